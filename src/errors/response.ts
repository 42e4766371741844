/** A response, as errors keep it. The secret key is redacted wherever the response repeats it. */
export interface ErrorResponse {
  /** The HTTP status. */
  readonly status: number;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed JSON, or the text if it is not JSON; undefined for an empty body. */
  readonly body: unknown;
}
