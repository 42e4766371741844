/** The headers of a response. The platform's `Headers` has these members, and more. */
export type HeaderFields = Pick<Headers, "get" | "has" | typeof Symbol.iterator>;

/** The head of a response, as the SDK reads it: the platform's `Response`, or an object of a transport that has none. */
export interface ResponseHead {
  readonly status: number;
  /** Whether the status is 2xx. */
  readonly ok: boolean;
  /** The URL of the request; empty for a response that was created in this process. */
  readonly url: string;
  readonly headers: HeaderFields;
  /** Makes a `Response` on demand, for a transport that has none, because making one takes time. */
  readonly toResponse?: () => Response;
}

/** The platform's `Response` with this head. */
export const responseOf = (head: ResponseHead): Response => head.toResponse?.() ?? (head as Response);
