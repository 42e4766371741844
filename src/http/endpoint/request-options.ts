import type { Overrides } from "../../util/overrides.ts";
import type { Priority } from "../pacing/queue.ts";

/** How often a failed attempt is retried, and how long the waits are. Times in milliseconds. */
export interface RetryOptions {
  /** The maximum number of retries. Default 4; 0 turns retries off. */
  readonly retries: number;
  /** The upper bound of the first backoff; it doubles each time, and each wait is drawn at random below it. Default 250. */
  readonly baseDelay: number;
  /** The upper bound of any backoff. Default 10 000. */
  readonly maxDelay: number;
  /**
   * The longest wait for a `Retry-After` or for a bucket's next token. When the wait would be longer, the call throws at once. Default
   * 120 000.
   */
  readonly maxRetryAfter: number;
}

/** A query value. An array repeats the parameter. */
export type QueryValue = string | number | boolean | undefined | readonly (string | number | boolean)[];

/** Headers of a request, in the forms that `fetch` takes: an object, `Headers`, a `Map` or a list of pairs. */
export type HeadersInput =
  | Readonly<Record<string, string>>
  | Headers
  | ReadonlyMap<string, string>
  | readonly (readonly [name: string, value: string])[];

/** The last argument of every call. All fields are optional; without a field, the client's own option applies. */
export interface RequestOptions {
  /** Ends the call at once, at any step, with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for one attempt, response body included. Default: the client's `timeout`, 30 000. */
  readonly timeout?: number | undefined;
  /** Milliseconds for the call as a whole: queueing, waits, attempts, body. Default: the client's `deadline`, none. */
  readonly deadline?: number | undefined;
  /** Parts of the client's `retry` to replace. */
  readonly retry?: Overrides<RetryOptions> | undefined;
  /** The order among the calls that wait for a token. Default `normal`; `ensureMany`, `batch` and `changes` use `low`. */
  readonly priority?: Priority | undefined;
  /** Headers to add. `user-agent` replaces the SDK's own. They cannot replace the header of the secret key. */
  readonly headers?: HeadersInput | undefined;
  /** Query parameters to add that the SDK does not know. */
  readonly query?: Readonly<Record<string, QueryValue>> | undefined;
  /**
   * Body fields to add that the SDK does not know. They are merged into the request's JSON body.
   *
   * @example
   * await partner.orders.create(order, { body: { order: { brandReference } } });
   */
  readonly body?: Readonly<Record<string, unknown>> | undefined;
}

/** The options of a call without options. */
export const noOptions: RequestOptions = {};
