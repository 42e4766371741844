/** The state of one policy. */
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

/** The rate limits as this process knows them. */
export interface RateLimits {
  /**
   * Each policy by its name. The service chooses the names: the record has no prototype, so that `constructor` and `__proto__` are
   * names like any other.
   */
  readonly policies: Readonly<Record<string, RateLimit>>;
  /**
   * Milliseconds until `calls` more calls have their tokens, behind all calls that wait already, at the rate of this process now.
   * This is an estimate: other processes can start and stop.
   *
   * @param policy Default `default`, which every call draws from.
   * @example
   * if (partner.rateLimits.estimate(items.length) > 60_000) console.log("This takes more than a minute.");
   */
  readonly estimate: (calls: number, policy?: string) => number;
}

/** Makes the record of the policies, and the estimate beside it. */
export function toRateLimits(
  limits: Iterable<readonly [policy: string, limit: RateLimit]>,
  estimate: (calls: number, policy: string) => number,
): RateLimits {
  const policies: Record<string, RateLimit> = Object.create(null);
  for (const [policy, limit] of limits) policies[policy] = limit;
  return { policies, estimate: (calls, policy = "default") => estimate(calls, policy) };
}
