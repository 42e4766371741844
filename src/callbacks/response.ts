/** The response to a callback, for any kind of server. */
export interface CallbackResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for none. */
  readonly text: string;
}

/** A cache in front of the server must not respond to the next callback of the same order. */
const uncached = { "cache-control": "no-store" };

const withText = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): CallbackResponse => ({
  status,
  headers: { ...uncached, "content-type": "text/plain; charset=utf-8", ...headers },
  text: `${text}\n`,
});

/** The callback is handled, or its order does not exist. The service stops repeating it. */
export const acknowledged: CallbackResponse = { status: 204, headers: uncached, text: "" };

const unavailable = (why: string) => withText(503, `${why} Repeat this callback later.`);

export const failed = unavailable("The order was not processed.");
export const overloaded = unavailable("Too many callbacks are waiting.");
export const closed = unavailable("This receiver is closed.");

export const badRequest = (why: string) => withText(400, why);
export const wrongToken = withText(403, "The parameter `token` is missing or wrong.");
export const tooLong = withText(414, "The URL of the callback is too long.");
export const wrongMethod = withText(405, "A callback is a GET.", { allow: "GET" });
