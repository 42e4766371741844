/** Where a fault strikes. */
interface Aim {
  /** The client's call (`orders.create`) or the endpoint as the specification writes it (`POST /orders`). Default: every request. */
  readonly on?: string;
  /** Which of the requests that fit, counted from 1 since the fault was added: one of them, or those it is true for. Default: all. */
  readonly nth?: number | ((n: number) => boolean);
}

/** When the answer goes wrong. */
interface Moment {
  /**
   * `after` the service has carried the request out, or `before`: then it never does. Default `after`, the worse one for a
   * client, which cannot tell the two apart.
   */
  readonly when?: "before" | "after";
}

/** The connection breaks and no answer comes: over a port a socket that is reset, otherwise what `fetch` throws then. */
export interface DropFault extends Aim, Moment {
  readonly fault: "drop";
}

/**
 * Another status, with the error object of the specification (2.2) where there is a `code`: then it is the service's own
 * answer, with its rate-limit headers; `rate_limited` tells the endpoint's bucket as empty.
 */
export interface StatusFault extends Aim, Moment {
  readonly fault: "status";
  /** From 400 to 599. */
  readonly status: number;
  /** Default: no code, and then no error object either, as a proxy answers. */
  readonly code?: string;
  /**
   * The header `Retry-After`. A number is milliseconds: 0, or 1000 and above. It is sent as whole seconds, rounded up. A string is sent
   * unchanged, for example an HTTP date or garbage.
   */
  readonly retryAfter?: number | string;
}

/** A redirect. */
export interface RedirectFault extends Aim, Moment {
  readonly fault: "redirect";
  readonly location: string;
  /** Default 302. */
  readonly status?: 301 | 302 | 303 | 307 | 308;
}

/**
 * A successful answer with another body: an HTML page, garbage, nothing, or JSON of another shape. What is of the type of JSON has
 * the service's rate-limit headers; a page, as a proxy gives it, has none.
 */
export interface BodyFault extends Aim, Moment {
  readonly fault: "body";
  /** Text and bytes go out as they are, anything else as JSON. */
  readonly body: unknown;
  /** Default 200. */
  readonly status?: number;
  /** Default `application/json`. */
  readonly type?: string;
}

/** The right answer with headers replaced or added, for example absurd rate limits. */
export interface HeadersFault extends Aim {
  readonly fault: "headers";
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The answer's headers come late. With `when: "before"` the service carries the request out as late as that, also when the
 * client has gone meanwhile.
 */
export interface SlowFault extends Aim, Moment {
  readonly fault: "slow";
  /** Milliseconds by the emulator's clock. */
  readonly ms: number;
}

/**
 * A gateway in front of the service stops waiting, and the service carries the request out all the same: later, and its response
 * goes nowhere.
 */
export interface GatewayFault extends Aim {
  readonly fault: "gateway";
  /** Milliseconds for which the gateway waits, by the emulator's clock. */
  readonly ms: number;
  /** Milliseconds after which the service carries the request out. */
  readonly processing: number;
  /** What the gateway does then: it responds with this status, without an error object, or breaks the connection. Default 504. */
  readonly status?: number | "drop";
}

/** Half of the body comes, and then nothing more: the connection stays open. */
export interface StallFault extends Aim {
  readonly fault: "stall";
}

/** The body comes byte by byte. */
export interface TrickleFault extends Aim {
  readonly fault: "trickle";
  /** Milliseconds between two bytes by the emulator's clock. */
  readonly ms: number;
}

/** Half of the body comes, and then the connection breaks. */
export interface TruncateFault extends Aim {
  readonly fault: "truncate";
}

/** What goes wrong between a client and the service, and where. */
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
  | TruncateFault;
