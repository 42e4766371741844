/** What came back, as it is kept on an error: the secret key is blotted out wherever the answer repeats it. */
export interface ErrorResponse {
  /** The HTTP status. */
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed JSON, or the text where it is no JSON; undefined for an empty body. */
  readonly body: unknown;
}
