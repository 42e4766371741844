/** An error with a code, like those of Node. */
const coded = (message: string, code: string): Error => Object.assign(new Error(message), { code });

/** Removes the credentials of a proxy from the message of Node's error about it. */
export function withoutCredentials(error: unknown): unknown {
  if (!(error instanceof Error) || !error.message.includes("@")) return error;
  const { code } = error as { code?: string };
  return coded(error.message.replace(/\/\/[^/\s]*@/g, "//"), code ?? "");
}

/** The connection closed before a response came, or the server wanted another protocol. */
export const closedEarly = (): Error => coded("the connection closed before a response arrived", "ECONNRESET");

export const cutOff = (): Error => coded("the connection closed before the response was complete", "ECONNRESET");

/** The compressed body ends too early. Node's decoders say the same. */
export const truncated = (): Error => coded("unexpected end of file", "Z_BUF_ERROR");

export const connectTimedOut = (ms: number): Error =>
  coded(`no connection within ${ms} ms (option \`connectTimeout\` of nodeTransport)`, "ETIMEDOUT");

/** The call has ended, and does not read this error. */
export const stopped = (): Error => coded("the request was stopped", "ABORT_ERR");
