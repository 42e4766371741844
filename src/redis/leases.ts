import type { Reply, Stamp } from "./protocol.ts";

/** A token that the fleet has granted to this process, for each of a line's policies. */
export interface Lease {
  /** When it can be used, by this process's clock. */
  readonly due: number;
  readonly stamps: ReadonlyMap<string, Stamp>;
}

/** The tokens that this process holds for requests that draw from the same policies. */
export class Leases {
  readonly policies: readonly string[];
  /** When it is worth asking for more, by this process's clock. */
  askAt = 0;
  #leases: Lease[] = [];
  #used = 0;

  constructor(policies: readonly string[]) {
    this.policies = policies;
  }

  get size(): number {
    return this.#leases.length;
  }

  /** The next to be used. */
  get next(): Lease | undefined {
    return this.#leases[0];
  }

  /** When the last is due; undefined without any. */
  get lastsUntil(): number | undefined {
    return this.#leases.at(-1)?.due;
  }

  add(leases: readonly Lease[]): void {
    this.#leases.push(...leases);
    this.#used = 0;
  }

  take(): Lease | undefined {
    const lease = this.#leases.shift();
    if (lease !== undefined) this.#used += 1;
    return lease;
  }

  /** Tokens that were used since some were last added: about what will be used until the next time. */
  get used(): number {
    return this.#used;
  }

  /** Takes out what has been due since `before`. Gives how many there were. */
  returnDue(before: number): number {
    const first = this.#leases.findIndex(({ due }) => due > before);
    return this.#leases.splice(0, first < 0 ? this.#leases.length : first).length;
  }

  clear(): void {
    this.#leases = [];
  }
}

/** The granted tokens, each with what comes back with its answer. */
export const leasesOf = (policies: readonly string[], { at, dues, policies: known }: Reply, now: number): Lease[] =>
  dues.map((due, index) => ({
    due: now + due,
    stamps: new Map<string, Stamp>(
      known.map(({ level, quota, window, granted, settled }, which) => [
        policies[which] ?? "",
        {
          at,
          // Requests on their way leave room for no more.
          level: Math.min(level + (due * quota) / window, quota - (granted - settled)) - index - 1,
          granted: granted + index + 1,
          settled,
        },
      ]),
    ),
  }));
