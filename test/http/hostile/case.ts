import type { Happening } from "./changed-order.ts";
import type { OperationName } from "./operations.ts";

/** How the body of a response arrives. */
export interface Pieces {
  /** Bytes of each piece. */
  readonly size: number;
  /** Milliseconds before each piece. */
  readonly pause: number;
  /** What follows the last piece. */
  readonly end: "close" | "error" | "stall";
  /** The number of pieces that arrive. Default: all. */
  readonly after?: number;
}

/** Another value at one place of the true JSON body, or a field that is missing. */
export interface Mutation {
  /** The number of the place, modulo the number of places. */
  readonly place: number;
  readonly value: unknown;
  readonly remove?: boolean;
}

/**
 * What happens to one request. By default the service carries it out at once, and the true response arrives whole. A case consists of
 * JSON values, so that it can be pasted into a test.
 */
export interface Move {
  /** What happens to the order that a call changes, when this request about it arrives. */
  readonly meanwhile?: Happening;
  /** Milliseconds until the service has carried the request out, or `never`. Default 0. */
  readonly carried?: number | "never";
  /** Milliseconds until `fetch` settles, or `never`. Default 0. */
  readonly head?: number | "never";
  /** `fetch` ignores its signal. */
  readonly deaf?: boolean;
  /** `fetch` rejects with this: a name of `thrown-values.ts`. */
  readonly rejects?: string;
  /** `fetch` throws this synchronously. */
  readonly throws?: string;
  /** `fetch` gives this instead of a plain `Response`: a name of `odd-responses.ts`. */
  readonly returns?: string;
  readonly status?: number;
  /** These replace the true headers of the same names. A name may occur twice. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** The body, instead of the true one. `$KEY` stands for the secret key. */
  readonly body?: string;
  readonly mutate?: Mutation;
  /** A body that is nested too deep, or too long. */
  readonly big?: "deep" | "long";
  readonly pieces?: Pieces;
}

/** The reason of the caller's abort. */
export type ReasonName = "object" | "null" | "text" | "error" | "default";

export interface PlannedCall {
  readonly operation: OperationName;
  /** Milliseconds after the call began; 0 aborts before the call. */
  readonly abortAt?: number;
  readonly reason?: ReasonName;
  readonly timeout?: number;
  readonly deadline?: number;
  readonly retries?: number;
  readonly maxRetryAfter?: number;
}

export interface Case {
  readonly calls: readonly PlannedCall[];
  /** Whether all calls begin at the same time. Default: one after the other. */
  readonly together?: boolean;
  /** One for each request, in order. Later requests get true responses. */
  readonly moves: readonly Move[];
  readonly pacing?: false;
  readonly responses?: "report";
  /** How the hooks and the logger fail. */
  readonly hooks?: "throw" | "reject";
  /** Milliseconds that the service's clock is ahead of the client's. */
  readonly skew?: number;
}
