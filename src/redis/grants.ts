import type { Reply, Stamp } from "./protocol.ts";

/** Milliseconds after which an unused token is returned: the fleet soon assumes that a silent process has ended. */
const lifetime = 1_000;

/** A grant of the fleet to this process: one token of each policy of a queue. */
export interface Grant {
  /** When it can be used, by this process's clock. */
  readonly due: number;
  readonly stamps: ReadonlyMap<string, Stamp>;
}

/** The tokens that this process holds for requests that draw from the same policies. */
export class Grants {
  readonly policies: readonly string[];
  /** When the process may ask for more tokens, by its own clock. */
  askAt = 0;
  #grants: Grant[] = [];
  #used = 0;

  constructor(policies: readonly string[]) {
    this.policies = policies;
  }

  get size(): number {
    return this.#grants.length;
  }

  /** The next token to use. */
  get next(): Grant | undefined {
    return this.#grants[0];
  }

  /** When the last token is due; undefined without tokens. */
  get lastsUntil(): number | undefined {
    return this.#grants.at(-1)?.due;
  }

  /** The number of tokens used since tokens were last added: an estimate of the use until the next visit. */
  get used(): number {
    return this.#used;
  }

  add(grants: readonly Grant[]): void {
    this.#grants.push(...grants);
    this.#used = 0;
  }

  take(): Grant | undefined {
    const grant = this.#grants.shift();
    if (grant !== undefined) this.#used += 1;
    return grant;
  }

  /** Removes the tokens that were due a lifetime ago, or, `early`, all that are due. Returns their number. */
  returnDue(now: number, early: boolean): number {
    const before = early ? now : now - lifetime;
    const later = this.#grants.findIndex(({ due }) => due > before);
    return this.#grants.splice(0, later < 0 ? this.#grants.length : later).length;
  }

  clear(): void {
    this.#grants = [];
  }
}

/** The granted tokens, each with its stamps. */
export const grantsOf = (policies: readonly string[], { at, dues, policies: known }: Reply, now: number): Grant[] =>
  dues.map((due, index) => ({
    due: now + due,
    stamps: new Map<string, Stamp>(
      known.map(({ level, quota, window, granted, settled }, which) => [
        policies[which] ?? "",
        {
          at,
          // Requests in flight reduce the maximum level.
          level: Math.min(level + (due * quota) / window, quota - (granted - settled)) - index - 1,
          granted: granted + index + 1,
          settled,
        },
      ]),
    ),
  }));
