import type { Buckets } from "../http/pacing/bucket/buckets.ts";
import { soon } from "../http/pacing/distance.ts";
import type { Reply } from "./protocol.ts";

type Known = Reply["policies"][number] & { readonly heardAt: number };

/** What is to be expected of the shared buckets, by the latest visit and the refill since. */
export class SharedLevels {
  readonly #known = new Map<string, Known>();
  readonly #heldUntil = new Map<string, number>();

  /** Takes in what a visit has told. Gives the policies whose bucket is another than before. */
  hear(policies: readonly string[], reply: Reply, now: number): readonly string[] {
    const before = policies.map((policy) => this.born(policy));
    reply.policies.forEach((known, index) => {
      const level = known.level - reply.dues.length;
      this.#known.set(policies[index] ?? "", { ...known, level, heardAt: now });
    });
    return policies.filter((policy, index) => this.born(policy) !== before[index]);
  }

  /** Which bucket was met at the latest visit; 0 before the first. */
  born(policy: string): number {
    return this.#known.get(policy)?.born ?? 0;
  }

  /**
   * The store is lost: the pictures of this process alone go on. They may not have seen the others yet, that draw on as well: each
   * yields to them from the start, with an equal part of what there was.
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

  /** Whether all wait for the answer that tells what the bucket holds. */
  scouting(policy: string): boolean {
    return this.#known.get(policy)?.heard === false;
  }

  /** Tokens that can be used now, and milliseconds until the next one; undefined before the first visit. */
  level(policy: string, now: number): { readonly remaining: number; readonly nextTokenIn: number } | undefined {
    const known = this.#known.get(policy);
    if (known === undefined) return undefined;
    const interval = known.window / known.quota;
    const level = Math.min(known.quota, known.level + (now - known.heardAt) / interval);
    const held = Math.max(0, this.heldUntil(policy) - now);
    const remaining = held > 0 ? 0 : Math.max(0, Math.floor(level));
    return { remaining, nextTokenIn: remaining > 0 ? 0 : Math.max(held, (1 - level) * interval) };
  }

  /** Milliseconds until the next token comes to the bucket; 0 when it comes soon, or nobody knows; undefined before the first visit. */
  away(policy: string, now: number): number | undefined {
    const known = this.#known.get(policy);
    const level = this.level(policy, now);
    if (known === undefined || level === undefined) return undefined;
    const ms = Math.min(level.nextTokenIn, known.window / known.quota);
    return known.heard && ms > soon ? ms : 0;
  }

  /** Milliseconds until so many tokens will have come to this process; undefined before the first visit. */
  until(policy: string, tokens: number, now: number): number | undefined {
    const known = this.#known.get(policy);
    const level = this.level(policy, now);
    if (known === undefined || level === undefined) return undefined;
    // What comes is divided among the processes that ask for it.
    const pace = known.active * (known.window / known.quota);
    return tokens <= level.remaining ? 0 : level.nextTokenIn + (tokens - level.remaining) * pace;
  }
}
