import { keyOf } from "../http/pacing/queue/wait-queue.ts";
import { Leases } from "./leases.ts";

/** All tokens in this process's hands: for each line of requests, those that the fleet has granted it. */
export class LeasePool {
  readonly #queues = new Map<string, Leases>();

  get empty(): boolean {
    return this.#all().every(({ size }) => size === 0);
  }

  /** The tokens for requests that draw from these policies. */
  of(policies: readonly string[]): Leases {
    const key = keyOf(policies);
    let leases = this.#queues.get(key);
    if (leases === undefined) {
      leases = new Leases(policies);
      this.#queues.set(key, leases);
    }
    return leases;
  }

  /** Tokens of one policy. */
  tokens(policy: string): number {
    return this.#all().reduce((sum, { policies, size }) => sum + (policies.includes(policy) ? size : 0), 0);
  }

  /** Takes out what has been due since `before`. Gives how many tokens of each policy there were. */
  *returnDue(before: number): Generator<readonly [policy: string, tokens: number], void, undefined> {
    for (const leases of this.#queues.values()) {
      const unused = leases.returnDue(before);
      if (unused > 0) for (const policy of leases.policies) yield [policy, unused];
    }
  }

  /** Throws the tokens of these policies away. */
  drop(policies: readonly string[]): void {
    for (const line of this.#all()) if (line.policies.some((policy) => policies.includes(policy))) line.clear();
  }

  /** It is worth asking for tokens of these policies at a time, if not before. */
  askAt(policies: readonly string[], time: number): void {
    for (const line of this.#all()) {
      if (line.policies.some((policy) => policies.includes(policy))) line.askAt = Math.min(line.askAt, time);
    }
  }

  clear(): void {
    for (const leases of this.#queues.values()) leases.clear();
  }

  #all(): readonly Leases[] {
    return [...this.#queues.values()];
  }
}
