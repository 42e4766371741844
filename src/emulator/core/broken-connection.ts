const brokenConnections = new WeakSet<object>();

const broken = (message: string, code: string, reason: string): TypeError => {
  const error = new TypeError(message, { cause: Object.assign(new Error(reason), { code }) });
  brokenConnections.add(error);
  return error;
};

/** The error that Node's `fetch` throws when the connection is reset before the response arrives. */
export const connectionReset = (): TypeError => broken("fetch failed", "ECONNRESET", "read ECONNRESET");

/** The error that a response body of Node's `fetch` throws when the connection ends before the body does. */
export const bodyTerminated = (): TypeError => broken("terminated", "UND_ERR_SOCKET", "other side closed");

/** Whether an error stands for a broken connection. Over a port, the server then destroys the socket. */
export const isBrokenConnection = (error: unknown): boolean =>
  typeof error === "object" && error !== null && brokenConnections.has(error);
