const brokenConnections = new WeakSet<object>();

const broken = (message: string, code: string, reason: string): TypeError => {
  const error = new TypeError(message, { cause: Object.assign(new Error(reason), { code }) });
  brokenConnections.add(error);
  return error;
};

/** What Node's `fetch` throws when the connection is reset before an answer has come. */
export const connectionReset = (): TypeError => broken("fetch failed", "ECONNRESET", "read ECONNRESET");

/** What the body of an answer of Node's `fetch` throws when the connection ends in its middle. */
export const bodyTerminated = (): TypeError => broken("terminated", "UND_ERR_SOCKET", "other side closed");

/** Whether an error plays a broken connection: over a port its socket is destroyed. */
export const isBrokenConnection = (error: unknown): boolean =>
  typeof error === "object" && error !== null && brokenConnections.has(error);
