import type { Buckets } from "../http/pacing/tokens.ts";
import type { Reply } from "./protocol.ts";

type Known = Reply["policies"][number] & { readonly knownAt: number };

/** The expected levels of the shared buckets, by the latest visit and the refill since then. */
export class SharedLevels {
  readonly #known = new Map<string, Known>();
  readonly #heldUntil = new Map<string, number>();

  /** Learns from the reply of a visit. Returns the policies whose bucket was replaced. */
  observe(policies: readonly string[], reply: Reply, now: number): readonly string[] {
    const before = policies.map((policy) => this.born(policy));
    reply.policies.forEach((known, index) => {
      const level = known.level - reply.dues.length;
      this.#known.set(policies[index] ?? "", { ...known, level, knownAt: now });
    });
    return policies.filter((policy, index) => this.born(policy) !== before[index]);
  }

  /** When the bucket of the latest visit was created; 0 before the first visit. */
  born(policy: string): number {
    return this.#known.get(policy)?.born ?? 0;
  }

  /**
   * Prepares the process's own buckets for the time without the store. They may not know the other processes yet: each bucket shares
   * with them from the start, with an equal part of the level.
   */
  handOver(own: Buckets, now: number): void {
    for (const [policy, { active }] of this.#known) {
      const { remaining = 0 } = this.level(policy, now) ?? {};
      if (active > 1) own.bucket(policy).join(remaining / active, active, now);
    }
  }

  hold(policy: string, until: number): void {
    this.#heldUntil.set(policy, Math.max(until, this.heldUntil(policy)));
  }

  heldUntil(policy: string): number {
    return this.#heldUntil.get(policy) ?? 0;
  }

  /** Whether all processes wait for the response that reports the level. */
  probing(policy: string): boolean {
    return this.#known.get(policy)?.heard === false;
  }

  /** Tokens that can be used now, and milliseconds until the next one; undefined before the first visit. */
  level(policy: string, now: number): { readonly remaining: number; readonly nextTokenIn: number } | undefined {
    const known = this.#known.get(policy);
    if (known === undefined) return undefined;
    const interval = known.window / known.quota;
    const level = Math.min(known.quota, known.level + (now - known.knownAt) / interval);
    const held = Math.max(0, this.heldUntil(policy) - now);
    const remaining = held > 0 ? 0 : Math.max(0, Math.floor(level));
    return { remaining, nextTokenIn: remaining > 0 ? 0 : Math.max(held, (1 - level) * interval) };
  }

  /** Milliseconds until the bucket's next token; 0 when the time is unknown; undefined before the first visit. */
  away(policy: string, now: number): number | undefined {
    const known = this.#known.get(policy);
    const level = this.level(policy, now);
    if (known === undefined || level === undefined) return undefined;
    const ms = Math.min(level.nextTokenIn, known.window / known.quota);
    return known.heard ? ms : 0;
  }

  /** Milliseconds until this number of tokens has come to this process; undefined before the first visit. */
  until(policy: string, tokens: number, now: number): number | undefined {
    const known = this.#known.get(policy);
    const level = this.level(policy, now);
    if (known === undefined || level === undefined) return undefined;
    // New tokens are divided among the active processes.
    const pace = known.active * (known.window / known.quota);
    return tokens <= level.remaining ? 0 : level.nextTokenIn + (tokens - level.remaining) * pace;
  }
}
