/** A live picture of one policy. */
export interface RateLimit {
  /** Tokens that the full bucket holds. */
  readonly quota: number;
  /** Milliseconds in which the bucket refills from empty. */
  readonly window: number;
  /** Tokens in the bucket, as far as this process knows. */
  readonly remaining: number;
  /** Milliseconds until the next call may go; 0 when one may go now. */
  readonly nextTokenIn: number;
  /** Calls of this client that are waiting for a token. */
  readonly waiting: number;
}

/** When so many more calls would have their tokens, in milliseconds from now: behind all that wait already. */
type Estimate = (calls: number, policy?: string) => number;

/** The picture of each policy by its name, and beside them, not enumerable, what they let one reckon. */
export type RateLimits = Readonly<Record<string, RateLimit>> & {
  /**
   * When so many more calls would have their tokens, in milliseconds from now: behind all calls that wait already, at the rate
   * that this process has now. It is an estimate: others may come and go.
   *
   * @param policy Default `default`, which every call draws from.
   * @example
   * if (partner.rateLimits.estimate(items.length) > 60_000) console.log("This takes more than a minute.");
   */
  readonly estimate: Estimate;
};

/**
 * Makes the record of the policies, with the estimate where no iteration, comparison or JSON meets it.
 *
 * The service chooses the names: the record inherits nothing, so that `constructor` and `__proto__` are names like any other. A policy
 * named `estimate` is not shown.
 */
export function toRateLimits(
  limits: Iterable<readonly [policy: string, limit: RateLimit]>,
  estimate: (calls: number, policy: string) => number,
): RateLimits {
  const value: Estimate = (calls, policy = "default") => estimate(calls, policy);
  const record: Record<string, RateLimit> = Object.create(null);
  for (const [policy, limit] of limits) record[policy] = limit;
  return Object.defineProperties(record, {
    estimate: { value, enumerable: false },
    // A template literal or a log that takes it for a text does not fail.
    [Symbol.toPrimitive]: { value: () => "[object RateLimits]" },
  }) as RateLimits;
}
