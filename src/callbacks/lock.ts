import type { KeyValueStore } from "../storage/contract.ts";
import { repeat } from "../storage/lock.ts";
import type { PartnerClock } from "../util/clock.ts";

/** Why an order is locked. */
export type Purpose = "reading" | "handing over";

/** Milliseconds after which the store ends the lock of a dead process. A lock for handing over is renewed, one for reading is not. */
export const lifetimes = { reading: 30_000, "handing over": 5_000 };

const tokenFor = (purpose: Purpose): Uint8Array => new TextEncoder().encode(`${purpose} ${crypto.randomUUID()}`);
const isForReading = (token: Uint8Array): boolean => new TextDecoder().decode(token).startsWith("reading");

/** What a lock needs. */
export interface LockParts {
  readonly key: string;
  readonly purpose: Purpose;
  readonly clock: PartnerClock;
  /** Runs an operation of the store, for a limited time. */
  readonly use: <Result>(work: (store: KeyValueStore) => Promise<Result>) => Promise<Result>;
}

/**
 * The right of one call to work on an order, of all processes with the store: a key that it has set and that ends by itself. A sweep locks
 * an order for reading, because its request can wait long. A call that hands over takes such a lock over, and the sweep notices when it
 * makes its own lock one for handing over: its response may be outdated then.
 *
 * A process that loses a lock, because it was suspended or the store was slow, does no harm: it cannot change the state that another one
 * has stored.
 */
export class OrderLock {
  readonly #parts: LockParts;
  #purpose: Purpose;
  #token: Uint8Array;
  /** The lock certainly holds until then. */
  #until = 0;
  #stopRenewing: () => void = () => undefined;

  private constructor(parts: LockParts) {
    this.#parts = parts;
    this.#purpose = parts.purpose;
    this.#token = tokenFor(parts.purpose);
  }

  /** Resolves to undefined if another call has the lock. */
  static async take(parts: LockParts): Promise<OrderLock | undefined> {
    const lock = new OrderLock(parts);
    let waiting = true;
    const taking = parts.use(async (store) => {
      const taken = (await lock.#set(store, null)) || (await lock.#takeOver(store));
      // A slow store can set it after the caller has given up. Nobody would use it, and it would block the next call.
      if (taken && !waiting) await store.delete(parts.key, { expected: lock.#token });
      return taken;
    });
    const taken = await taking.finally(() => {
      waiting = false;
    });
    if (!taken) return undefined;
    if (parts.purpose === "handing over") lock.#renew();
    return lock;
  }

  /** Whether no other call can have had the lock since it was taken. */
  get isCertain(): boolean {
    return this.#parts.clock.now() < this.#until;
  }

  /** Makes a lock for reading one for handing over. Resolves to false if it has ended: then another call may have handed over. */
  async upgrade(): Promise<boolean> {
    const held = this.#token;
    this.#token = tokenFor("handing over");
    this.#purpose = "handing over";
    this.#until = 0;
    const upgraded = await this.#parts.use((store) => this.#set(store, held));
    if (upgraded) this.#renew();
    return upgraded;
  }

  /** Never rejects: a lock that the store keeps ends by itself. */
  async release(): Promise<void> {
    this.#stopRenewing();
    const { key, use } = this.#parts;
    await use((store) => store.delete(key, { expected: this.#token })).catch(() => undefined);
  }

  async #set(store: KeyValueStore, expected: Uint8Array | null): Promise<boolean> {
    const ttl = lifetimes[this.#purpose];
    const until = this.#parts.clock.now() + ttl;
    const set = await store.set(this.#parts.key, this.#token, { ttl, expected });
    if (set) this.#until = Math.max(this.#until, until);
    return set;
  }

  async #takeOver(store: KeyValueStore): Promise<boolean> {
    // The store drops a damaged value when it is read.
    const held = await store.get(this.#parts.key);
    if (held === undefined) return this.#set(store, null);
    return this.#purpose === "handing over" && isForReading(held) && this.#set(store, held);
  }

  #renew(): void {
    const { clock, use } = this.#parts;
    const renew = () => use((store) => this.#set(store, this.#token));
    this.#stopRenewing = repeat(lifetimes["handing over"] / 3, clock, renew);
  }
}
