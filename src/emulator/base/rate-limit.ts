import * as z from "zod/mini";
import type { Policy } from "../../http/endpoint.ts";
import { count } from "../../schemas/shape.ts";
import type { PartnerClock } from "../../util/clock.ts";
import { toSeconds } from "./messages.ts";

/** A rate-limit bucket. It refills continuously. */
export interface Limit {
  /** Tokens that the full bucket holds. */
  readonly quota: number;
  /** Milliseconds in which an empty bucket refills to `quota`. */
  readonly window: number;
}

/** The limits of the specification's part 8. */
export const defaultLimits: Readonly<Record<Policy, Limit>> = {
  default: { quota: 3000, window: 60_000 },
  uploads: { quota: 5000, window: 86_400_000 },
  downloads: { quota: 100_000, window: 86_400_000 },
};

export const policies = ["default", "uploads", "downloads"] as const satisfies readonly Policy[];

/** Tokens are fractions. Rounding can make a whole token smaller by at most this. */
const epsilon = 1e-6;

/** The most milliseconds that are added to a Retry-After (specification 8, rule 3: "includes jitter"). */
const maximalJitter = 500;

/** A repeatable sequence between 0 and 1. Multiples of the golden ratio are spread evenly. */
const createSpread = () => {
  let value = 0;
  return () => {
    value = (value + 0.618_033_988_75) % 1;
    return value;
  };
};

interface TokenBucket extends Limit {
  tokens: number;
  at: number;
}

/** A bucket that the headers report as empty. */
interface EmptyBucket {
  readonly policy: Policy;
  /** Milliseconds until the bucket has a token. */
  readonly nextTokenIn: number;
}

/** The organization's rate-limit buckets (specification 8). */
export interface RateLimiter {
  /** Draws one token from each policy's bucket. When one bucket is empty, draws none and returns the milliseconds for Retry-After. */
  take(policies: readonly Policy[]): number | undefined;
  /** Draws tokens as another client of the organization does. Default: all tokens. */
  drain(policy: Policy, tokens?: number): void;
  /** The last of the policies whose bucket gives a token in this many milliseconds; the first if none does. */
  emptyFor(policies: readonly Policy[], nextTokenIn: number): EmptyBucket | undefined;
  /** The whole tokens in each bucket. */
  levels(): Readonly<Record<Policy, number>>;
  /** `X-RateLimit-Policy` and `X-RateLimit`, as structured-field lists. The bucket `empty` is reported as empty at any level. */
  headers(policies: readonly Policy[], empty?: EmptyBucket): Readonly<Record<string, string>>;
  /** The tokens of each bucket. */
  save(): Readonly<Record<string, number>>;
  load(tokens: Readonly<Record<string, number>>): void;
}

const wholeTokens = ({ tokens }: TokenBucket): number => Math.floor(tokens + epsilon);
const isEmpty = ({ tokens }: TokenBucket): boolean => tokens < 1 - epsilon;

const byPolicy = <Value>(read: (policy: Policy) => Value): Readonly<Record<Policy, Value>> => ({
  default: read("default"),
  uploads: read("uploads"),
  downloads: read("downloads"),
});

/** Makes full buckets. */
export function createRateLimiter(clock: PartnerClock, limits: Readonly<Record<Policy, Limit>>): RateLimiter {
  const fill = ({ quota, window }: Limit): TokenBucket => ({ quota, window, tokens: quota, at: clock.now() });
  const buckets = new Map<string, TokenBucket>(policies.map((policy) => [policy, fill(limits[policy])]));
  const jitter = createSpread();

  const refilled = (policy: Policy): TokenBucket => {
    const bucket = buckets.get(policy);
    if (bucket === undefined)
      throw new TypeError(`A policy must be one of ${[...buckets.keys()].join(", ")}; got ${policy}`);
    const now = clock.now();
    // The time of the emulator goes back when the machine's clock is set back.
    const since = Math.max(0, now - bucket.at);
    bucket.tokens = Math.min(bucket.quota, bucket.tokens + (since * bucket.quota) / bucket.window);
    bucket.at = now;
    return bucket;
  };

  const nextTokenIn = (bucket: TokenBucket) =>
    isEmpty(bucket) ? ((1 - bucket.tokens) * bucket.window) / bucket.quota : 0;

  return {
    take: (policies) => {
      const drawn = policies.map(refilled);
      if (drawn.some(isEmpty)) return Math.max(...drawn.map(nextTokenIn)) + jitter() * maximalJitter;
      for (const bucket of drawn) bucket.tokens -= 1;
      return undefined;
    },
    drain: (policy, tokens) => {
      const bucket = refilled(policy);
      bucket.tokens = Math.max(0, bucket.tokens - (tokens ?? bucket.tokens));
    },
    emptyFor: (policies, nextTokenIn) => {
      // A Retry-After is in whole seconds.
      const isPossible = (name: Policy) =>
        Math.floor(limits[name].window / limits[name].quota / 1000) * 1000 <= nextTokenIn;
      const policy = policies.findLast(isPossible) ?? policies[0];
      return policy && { policy, nextTokenIn };
    },
    levels: () => byPolicy((policy) => wholeTokens(refilled(policy))),
    headers: (policies, empty) => {
      const quotas: string[] = [];
      const states: string[] = [];
      for (const policy of policies) {
        const bucket = refilled(policy);
        quotas.push(`"${policy}";q=${bucket.quota};w=${bucket.window / 1000}`);
        const reported = policy === empty?.policy;
        const remaining = reported ? 0 : wholeTokens(bucket);
        const wait = reported ? empty.nextTokenIn : nextTokenIn(bucket);
        states.push(`"${policy}";r=${remaining};t=${toSeconds(wait)}`);
      }
      return { "X-RateLimit-Policy": quotas.join(", "), "X-RateLimit": states.join(", ") };
    },
    save: () => byPolicy((policy) => refilled(policy).tokens),
    load: (tokens) => {
      for (const policy of policies) refilled(policy).tokens = tokens[policy] ?? 0;
    },
  };
}

const limit = (policy: Policy) =>
  z._default(
    z.strictObject({
      quota: count(1),
      window: z.number().check(z.gte(1000, "is in milliseconds, at least 1000")),
      q: z.optional(z.never("is now called `quota`")),
      w: z.optional(z.never("is now called `window`, in milliseconds")),
    }),
    defaultLimits[policy],
  );

/** The limits of an organization. A missing one is that of the specification. */
export const limits = () =>
  z.strictObject({ default: limit("default"), uploads: limit("uploads"), downloads: limit("downloads") });
