/** The requests that a fault applies to. */
interface FaultTarget {
  /** The client's call (`orders.create`) or the specification's endpoint (`POST /orders`). Default: every request. */
  readonly on?: string;
  /**
   * Which of the requests that match `on`: a number, counted from 1 since the fault was added, or a function that returns true for the
   * numbers that it applies to. Default: all.
   */
  readonly nth?: number | ((n: number) => boolean);
}

/** When a fault applies. */
interface FaultTiming {
  /**
   * `after`: the service carries the request out first. `before`: the service does not see the request. Default `after`, the worse
   * case for a client, which cannot distinguish the two.
   */
  readonly when?: "before" | "after";
}

/** The connection breaks before the response. Over a port, the socket is reset. Otherwise, `fetch` throws the same error as Node does. */
export interface DropFault extends FaultTarget, FaultTiming {
  readonly fault: "drop";
}

/**
 * An error status. With a `code`, the response has the service's error object (specification 2.2) and rate-limit headers. Code
 * `rate_limited` reports a bucket as empty that gives a token within `retryAfter`. Without a `code`, it looks like a proxy's response.
 */
export interface StatusFault extends FaultTarget, FaultTiming {
  readonly fault: "status";
  /** From 400 to 599. */
  readonly status: number;
  /** The code of the error object. Default: no error object. */
  readonly code?: string;
  /**
   * The header `Retry-After`. A number is milliseconds: 0, or 1000 and above. It is sent as whole seconds, rounded up. A string is sent
   * unchanged, for example an HTTP date or garbage.
   */
  readonly retryAfter?: number | string;
}

/** A redirect to `location`. */
export interface RedirectFault extends FaultTarget, FaultTiming {
  readonly fault: "redirect";
  readonly location: string;
  /** Default 302. */
  readonly status?: 301 | 302 | 303 | 307 | 308;
}

/**
 * A successful response with another body: an HTML page, garbage, nothing, or JSON of another shape. A body of type
 * `application/json` has the service's rate-limit headers. Another type has none, like a proxy's page.
 */
export interface BodyFault extends FaultTarget, FaultTiming {
  readonly fault: "body";
  /** A string or bytes are sent unchanged, anything else as JSON. */
  readonly body: unknown;
  /** Default 200. */
  readonly status?: number;
  /** Default `application/json`. */
  readonly type?: string;
}

/** The correct response with headers replaced or added, for example absurd rate limits. */
export interface HeadersFault extends FaultTarget {
  readonly fault: "headers";
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The response arrives late. With `when: "before"`, the service also carries the request out late, even if the client has aborted by
 * then.
 */
export interface SlowFault extends FaultTarget, FaultTiming {
  readonly fault: "slow";
  /** Milliseconds by the clock of the options. */
  readonly ms: number;
}

/**
 * A gateway in front of the service stops waiting and responds. The service still carries the request out, and its response is
 * discarded.
 */
export interface GatewayFault extends FaultTarget {
  readonly fault: "gateway";
  /** Milliseconds for which the gateway waits, by the clock of the options. */
  readonly ms: number;
  /** Milliseconds after which the service carries the request out. */
  readonly processing: number;
  /** The status that the gateway responds with, without an error object; `drop` breaks the connection. Default 504. */
  readonly status?: number | "drop";
}

/** Half of the body arrives. The connection stays open. */
export interface StallFault extends FaultTarget {
  readonly fault: "stall";
}

/** The body arrives byte by byte. */
export interface TrickleFault extends FaultTarget {
  readonly fault: "trickle";
  /** Milliseconds between two bytes, by the clock of the options. */
  readonly ms: number;
}

/** Half of the body arrives, then the connection breaks. */
export interface TruncateFault extends FaultTarget {
  readonly fault: "truncate";
}

/**
 * The render that the request creates fails when it is finished; one that existed before, if it is pending. It applies only to
 * `renders.create`, which is the default of `on`.
 *
 * @example
 * emulator.faults.add({ fault: "failRender", nth: 3 }); // the third render of a batch fails
 */
export interface FailRenderFault extends FaultTarget {
  readonly fault: "failRender";
}

/** A fault between a client and the service. */
export type Fault =
  | DropFault
  | StatusFault
  | RedirectFault
  | BodyFault
  | HeadersFault
  | SlowFault
  | GatewayFault
  | StallFault
  | TrickleFault
  | TruncateFault
  | FailRenderFault;
