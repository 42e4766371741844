import type { Policy } from "../../http/endpoint/endpoint.ts";
import type { PartnerClock } from "../../util/clock.ts";

/** A bucket: at most `q` tokens, refilled continuously with `q` tokens every `w` seconds. */
export interface Limit {
  readonly q: number;
  /** Seconds. */
  readonly w: number;
}

/** The quotas of the specification's part 8. */
export const defaultLimits: Readonly<Record<Policy, Limit>> = {
  default: { q: 3000, w: 60 },
  uploads: { q: 5000, w: 86_400 },
  downloads: { q: 100_000, w: 86_400 },
};

/** Tokens are fractions; a sum of many may fall short of a whole one by less than this. */
const epsilon = 1e-6;

/** At most so many seconds are added to a Retry-After (specification 8, rule 3: "includes jitter"). */
const maximalJitter = 0.5;

/** A repeatable sequence between 0 and 1: the golden ratio's multiples, which spread evenly. */
const createSpread = () => {
  let value = 0;
  return () => {
    value = (value + 0.618_033_988_75) % 1;
    return value;
  };
};

interface Bucket extends Limit {
  tokens: number;
  at: number;
}

/** A bucket that is told as empty, and the seconds until it has a token. */
interface EmptyBucket {
  readonly policy: Policy;
  readonly seconds: number;
}

/** The organization's rate-limit buckets (specification 8). */
export interface RateLimiter {
  /** Draws one token from each policy's bucket, or none at all: then it gives the seconds for Retry-After. */
  take(policies: readonly Policy[]): number | undefined;
  /** Draws tokens without asking, as another consumer of the organization would; all of them when no number is given. */
  drain(policy: Policy, tokens?: number): void;
  /** `X-RateLimit-Policy` and `X-RateLimit`, as structured-field lists. One bucket may be told as empty, whatever it holds. */
  headers(policies: readonly Policy[], empty?: EmptyBucket): Readonly<Record<string, string>>;
}

/** Makes full buckets. */
export function createRateLimiter(clock: PartnerClock, limits: Readonly<Record<Policy, Limit>>): RateLimiter {
  const fill = ({ q, w }: Limit): Bucket => ({ q, w, tokens: q, at: clock.now() });
  const buckets = new Map<string, Bucket>([
    ["default", fill(limits.default)],
    ["uploads", fill(limits.uploads)],
    ["downloads", fill(limits.downloads)],
  ]);
  const jitter = createSpread();

  const refilled = (policy: Policy): Bucket => {
    const bucket = buckets.get(policy);
    if (bucket === undefined)
      throw new TypeError(`A policy is one of ${[...buckets.keys()].join(", ")}; got ${policy}`);
    const now = clock.now();
    bucket.tokens = Math.min(bucket.q, bucket.tokens + ((now - bucket.at) * bucket.q) / (bucket.w * 1000));
    bucket.at = now;
    return bucket;
  };

  const isEmpty = (bucket: Bucket) => bucket.tokens < 1 - epsilon;
  const secondsToToken = (bucket: Bucket) => (isEmpty(bucket) ? ((1 - bucket.tokens) * bucket.w) / bucket.q : 0);

  return {
    take: (policies) => {
      const drawn = policies.map(refilled);
      if (drawn.some(isEmpty)) return Math.ceil(Math.max(...drawn.map(secondsToToken)) + jitter() * maximalJitter);
      for (const bucket of drawn) bucket.tokens -= 1;
      return undefined;
    },
    drain: (policy, tokens) => {
      const bucket = refilled(policy);
      bucket.tokens = Math.max(0, bucket.tokens - (tokens ?? bucket.tokens));
    },
    headers: (policies, empty) => {
      const quotas: string[] = [];
      const states: string[] = [];
      for (const policy of policies) {
        const bucket = refilled(policy);
        quotas.push(`"${policy}";q=${bucket.q};w=${bucket.w}`);
        const told = policy === empty?.policy;
        const remaining = told ? 0 : Math.floor(bucket.tokens + epsilon);
        states.push(`"${policy}";r=${remaining};t=${told ? empty.seconds : Math.ceil(secondsToToken(bucket))}`);
      }
      return { "X-RateLimit-Policy": quotas.join(", "), "X-RateLimit": states.join(", ") };
    },
  };
}
