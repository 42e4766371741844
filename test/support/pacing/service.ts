import type { PartnerClock } from "../../../src/util/clock.ts";

/** The response of a model of the service. */
export interface Served {
  readonly refused: boolean;
  readonly headers: Headers;
  /** Milliseconds that a refusal asks to wait. */
  readonly retryAfter: number;
}

interface Level {
  quota: number;
  window: number;
  tokens: number;
  at: number;
}

/** The service's own token buckets as in specification 8, without any code of the client. */
export interface Service {
  /** Takes a token of each policy, or none at all. */
  serve(policies: readonly string[]): Served;
  /** Removes tokens as another client would, as far as they remain. */
  drain(policy: string, tokens: number): void;
  /** Changes the quota or the window. */
  resize(policy: string, quota: number, window: number): void;
  level(policy: string): number;
}

/** Quota and window, in milliseconds, by policy. */
export type Limits = Readonly<Record<string, readonly [quota: number, window: number]>>;

export function createService(clock: PartnerClock, limits: Limits): Service {
  const start = clock.now();
  const levels = new Map<string, Level>(
    Object.entries(limits).map(([name, [quota, window]]) => [name, { quota, window, tokens: quota, at: start }]),
  );
  const refill = (name: string): Level => {
    const level = levels.get(name);
    if (level === undefined) throw new Error(`The model has no policy ${name}`);
    const now = clock.now();
    level.tokens = Math.min(level.quota, level.tokens + ((now - level.at) * level.quota) / level.window);
    level.at = now;
    return level;
  };
  const untilToken = ({ tokens, quota, window }: Level) => (tokens >= 1 ? 0 : ((1 - tokens) * window) / quota);

  return {
    serve: (policies) => {
      const drawn = policies.map((name) => ({ name, level: refill(name) }));
      const refused = drawn.some(({ level }) => level.tokens < 1 - 1e-6);
      const retryAfter = Math.ceil(Math.max(...drawn.map(({ level }) => untilToken(level))) / 1000) * 1000;
      if (!refused) for (const { level } of drawn) level.tokens -= 1;
      const quotas = drawn.map(({ name, level }) => `"${name}";q=${level.quota};w=${level.window / 1000}`);
      const states = drawn.map(
        ({ name, level }) =>
          `"${name}";r=${Math.max(0, Math.floor(level.tokens + 1e-6))};t=${Math.ceil(untilToken(level) / 1000)}`,
      );
      const headers = new Headers({ "x-ratelimit-policy": quotas.join(", "), "x-ratelimit": states.join(", ") });
      return { refused, headers, retryAfter: Math.max(1000, retryAfter) };
    },
    drain: (name, tokens) => {
      const level = refill(name);
      level.tokens = Math.max(0, level.tokens - tokens);
    },
    resize: (name, quota, window) => {
      const level = refill(name);
      Object.assign(level, { quota, window, tokens: Math.min(level.tokens, quota) });
    },
    level: (name) => refill(name).tokens,
  };
}
