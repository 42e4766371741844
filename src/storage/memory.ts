import * as z from "zod/mini";
import { checkedConfiguration } from "../schemas/check.ts";
import type { PartnerClock } from "../util/clock.ts";
import {
  type KeyValueStorage,
  lifetimeOf,
  organizationName,
  reliableClock,
  type StorageSetOptions,
} from "./contract.ts";

const sameBytes = (one: Uint8Array, other: Uint8Array): boolean =>
  one.byteLength === other.byteLength && one.every((byte, index) => byte === other[index]);

/** Options of {@link memoryStorage}. */
export interface MemoryStorageOptions {
  /**
   * Maximum bytes of all keys and values. The least recently used values are dropped first. A value larger than this is not stored. Default
   * 67 108 864 (64 MiB).
   */
  readonly maxSize?: number | undefined;
  /** A name for the organization; see {@link KeyValueStorage.organization}. */
  readonly organization?: string | undefined;
  /** The source of time. Default: the system clock. */
  readonly clock?: PartnerClock | undefined;
}

const memoryOptions = () =>
  z.strictObject({
    maxSize: z._default(z.int().check(z.positive()), 64 * 1024 * 1024),
    organization: organizationName(),
    clock: reliableClock(),
  });

/**
 * Remembers in the memory of this process until it ends. For a single long-lived process, and for tests.
 *
 * @throws `ConfigurationError` if an option is invalid.
 * @example
 * const partner = new PodPartner({ baseUrl, secretKey, storage: memoryStorage({ maxSize: 16 * 1024 * 1024 }) });
 */
export function memoryStorage(options: MemoryStorageOptions = {}): KeyValueStorage {
  const { maxSize, organization, clock } = checkedConfiguration(memoryOptions, options, "storage");
  const entries = new MemoryEntries(maxSize, clock);
  // Copies in and out, because a caller may change the bytes later. `slice` of a Buffer does not copy.
  const copyOf = (bytes: Uint8Array) => new Uint8Array(bytes);
  return {
    kind: "memory",
    organization,
    async get(key) {
      const value = entries.use(key);
      return value && copyOf(value);
    },
    async set(key, value, { ttl, expected } = {}) {
      const lifetime = lifetimeOf(ttl);
      if (!entries.holds(key, expected)) return false;
      entries.put(key, copyOf(value), lifetime);
      return true;
    },
    async delete(key, { expected } = {}) {
      if (entries.peek(key) === undefined || !entries.holds(key, expected)) return false;
      entries.remove(key);
      return true;
    },
    async *keys(prefix) {
      // `keys()` is a copy: a value that is read during the iteration moves to the end.
      for (const key of entries.keys()) if (key.startsWith(prefix) && entries.peek(key) !== undefined) yield key;
    },
  };
}

interface MemoryEntry {
  readonly value: Uint8Array;
  /** When the value expires, in milliseconds of the clock. */
  readonly until: number;
}

/** Approximate bytes of an entry in a `Map` besides its key and value. */
const overhead = 100;
const sizeOf = (key: string, value: Uint8Array) => key.length + value.byteLength + overhead;

/** The number of entries that each change checks for expiry: more than the one that it adds. */
const checkedPerChange = 2;

/** The entries of a memory, the least recently used first. */
class MemoryEntries {
  readonly #entries = new Map<string, MemoryEntry>();
  readonly #maxSize: number;
  readonly #clock: PartnerClock;
  #size = 0;
  /** The position of the check for expired entries. */
  #walk: Iterator<[string, MemoryEntry]> = this.#entries.entries();
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

  /** Like `peek`, and makes the value the most recently used one. */
  use(key: string): Uint8Array | undefined {
    const value = this.peek(key);
    const entry = this.#entries.get(key);
    if (entry !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      // An iterator that stands still keeps each older table of its map in memory.
      this.#removeExpired();
    }
    return value;
  }

  holds(key: string, expected: StorageSetOptions["expected"]): boolean {
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
    this.#removeExpired();
    // A value that is too large would push out all others, and then itself.
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

  /** Removes some expired entries. After as many steps as there are entries it starts over, because values that are read move to the end. */
  #removeExpired(): void {
    for (let count = 0; count < checkedPerChange; count += 1) {
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
