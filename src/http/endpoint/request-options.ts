import type { Overrides } from "../../util/overrides.ts";

/** Which of the calls that wait for a token go first: `high` overtakes, `low` lets others pass. */
export type Priority = "high" | "normal" | "low";

/** How often and how patiently a failed attempt is repeated. Times in milliseconds. */
export interface RetryOptions {
  /** Attempts after the first. Default 4; 0 turns retrying off. */
  readonly retries: number;
  /** The upper bound of the first backoff; it doubles each time, and each wait is drawn at random below it. Default 250. */
  readonly baseDelay: number;
  /** The upper bound of any backoff. Default 10 000. */
  readonly maxDelay: number;
  /**
   * A `Retry-After` beyond this is an error at once instead of a wait. So is a bucket whose next token is further away, whatever header
   * said so. Default 120 000.
   */
  readonly maxRetryAfter: number;
}

/** A query value as it can be written into a URL; an array repeats the parameter. */
export type QueryValue = string | number | boolean | undefined | readonly (string | number | boolean)[];

/** The last argument of every call. All of it is optional; the client's own options hold where nothing is given. */
export interface RequestOptions {
  /** Ends the call at once, wherever it is, with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for one attempt, its body included. Default: the client's `timeout`, 30 000. */
  readonly timeout?: number | undefined;
  /** Milliseconds for the call as a whole: queueing, waits, attempts, body. Default: the client's `deadline`, none. */
  readonly deadline?: number | undefined;
  /** Parts of the client's `retry` to replace. */
  readonly retry?: Overrides<RetryOptions> | undefined;
  /** Which of the calls that wait for a token go first. Default `normal`; `ensureMany` and `batch` use `low`. */
  readonly priority?: Priority | undefined;
  /** Headers to add. `user-agent` replaces the SDK's own; the key's header cannot be replaced. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Query parameters to add that the SDK does not know. */
  readonly query?: Readonly<Record<string, QueryValue>> | undefined;
  /**
   * Body fields to add that the SDK does not know, merged into the request's JSON as it goes over the wire.
   *
   * @example
   * await partner.orders.create(order, { body: { order: { brandReference } } });
   */
  readonly body?: Readonly<Record<string, unknown>> | undefined;
}

/** What a call has that was given no options. */
export const noOptions: RequestOptions = {};
