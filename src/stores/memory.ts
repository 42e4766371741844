import type { PartnerClock } from "../util/clock.ts";
import { sameBytes } from "../util/same-bytes.ts";
import { lifetimeOf } from "./lifetime.ts";
import type { KeyValueStore, StoreSetOptions } from "./store.ts";

interface Entry {
  readonly value: Uint8Array;
  /** The time at which the value is gone. */
  readonly until: number;
}

/** Bytes that a `Map` needs for an entry besides its key and value, roughly. */
const overhead = 100;
const sizeOf = (key: string, value: Uint8Array) => key.length + value.byteLength + overhead;

/** Entries that each change checks for their end: more than the one that it adds. */
const checked = 2;

// `slice` of a Buffer does not copy.
const copyOf = (bytes: Uint8Array) => new Uint8Array(bytes);

/** The operations of a store in the memory of this process, which keeps the bytes that it is given. It loads at the first use. */
export function createMemory(
  clock: PartnerClock,
  maxSize = 64 * 1024 * 1024,
): Pick<KeyValueStore, "get" | "set" | "delete" | "keys"> {
  const entries = new Entries(maxSize, clock);
  return {
    async get(key) {
      const value = entries.use(key);
      return value && copyOf(value);
    },
    async set(key, value, { ttl, expected } = {}) {
      const lifetime = lifetimeOf(ttl);
      if (!entries.holds(key, expected)) return false;
      entries.put(key, value, lifetime);
      return true;
    },
    async delete(key, { expected } = {}) {
      if (entries.peek(key) === undefined || !entries.holds(key, expected)) return false;
      entries.remove(key);
      return true;
    },
    async *keys(prefix) {
      // A copy: a value that is read meanwhile moves to the end.
      for (const key of entries.keys()) if (key.startsWith(prefix) && entries.peek(key) !== undefined) yield key;
    },
  };
}

/** The entries of a store, the least recently used first. */
class Entries {
  readonly #entries = new Map<string, Entry>();
  readonly #maxSize: number;
  readonly #clock: PartnerClock;
  #size = 0;
  /** A walk over the entries that removes those that are gone. */
  #walk: Iterator<[string, Entry]> = this.#entries.entries();
  #steps = 0;

  constructor(maxSize: number, clock: PartnerClock) {
    this.#maxSize = maxSize;
    this.#clock = clock;
  }

  keys(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /** The value of a key; undefined if it holds none. */
  peek(key: string): Uint8Array | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.until > this.#clock.now()) return entry?.value;
    this.remove(key);
    return undefined;
  }

  /** Like `peek`. The value is the most recently used then. */
  use(key: string): Uint8Array | undefined {
    const value = this.peek(key);
    const entry = this.#entries.get(key);
    if (entry !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return value;
  }

  holds(key: string, expected: StoreSetOptions["expected"]): boolean {
    if (expected === undefined) return true;
    const value = this.peek(key);
    return expected === null ? value === undefined : value !== undefined && sameBytes(value, expected);
  }

  remove(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#size -= sizeOf(key, entry.value);
  }

  put(key: string, value: Uint8Array, lifetime: number | undefined): void {
    this.remove(key);
    this.#check();
    // It would push out every other value, and then itself.
    if (sizeOf(key, value) > this.#maxSize || lifetime === 0) return;
    this.#entries.set(key, {
      value,
      until: lifetime === undefined ? Number.POSITIVE_INFINITY : this.#clock.now() + lifetime,
    });
    this.#size += sizeOf(key, value);
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#maxSize) break;
      this.remove(oldest);
    }
  }

  /** Continues the walk. It begins again after as many steps as there are entries: values that are read move to its end all the time. */
  #check(): void {
    for (let count = 0; count < checked; count += 1) {
      const next = this.#steps < this.#entries.size ? this.#walk.next() : undefined;
      if (next === undefined || next.done) {
        this.#walk = this.#entries.entries();
        this.#steps = 0;
        return;
      }
      this.#steps += 1;
      this.peek(next.value[0]);
    }
  }
}
