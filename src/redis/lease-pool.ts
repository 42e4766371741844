import { Leases } from "./leases.ts";

/** All tokens that this process holds: for each queue of requests, those that the fleet has granted to it. */
export class LeasePool {
  readonly #queues = new Map<string, Leases>();

  get empty(): boolean {
    return this.#all().every(({ size }) => size === 0);
  }

  /** The tokens for requests that draw from these policies. */
  of(policies: readonly string[]): Leases {
    // No policy has a line break in its name.
    const key = policies.join("\n");
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

  /** Removes the tokens that were due by `before`. Yields their number for each policy. */
  *returnDue(before: number): Generator<readonly [policy: string, tokens: number], void, undefined> {
    for (const leases of this.#queues.values()) {
      const unused = leases.returnDue(before);
      if (unused > 0) for (const policy of leases.policies) yield [policy, unused];
    }
  }

  /** Drops the tokens of these policies. */
  drop(policies: readonly string[]): void {
    for (const leases of this.#all()) if (leases.policies.some((policy) => policies.includes(policy))) leases.clear();
  }

  /** Lets the process ask for tokens of these policies at this time at the latest. */
  askAt(policies: readonly string[], time: number): void {
    for (const leases of this.#all()) {
      if (leases.policies.some((policy) => policies.includes(policy))) leases.askAt = Math.min(leases.askAt, time);
    }
  }

  clear(): void {
    for (const leases of this.#queues.values()) leases.clear();
  }

  #all(): readonly Leases[] {
    return [...this.#queues.values()];
  }
}
