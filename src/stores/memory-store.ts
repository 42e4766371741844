import { ConfigurationError } from "../errors/validation.ts";
import { type PartnerClock, reliable, systemClock } from "../util/clock.ts";
import type { KeyValueStore } from "./store.ts";

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** The maximum of the keys' and values' bytes. The least recently used values go first. Default 67 108 864 (64 MiB). */
  readonly maxSize?: number | undefined;
  /** A name for the organization; see {@link KeyValueStore.organization}. */
  readonly organization?: string | undefined;
  /** The source of time. Default: the system clock. */
  readonly clock?: PartnerClock | undefined;
}

interface Entry {
  readonly value: Uint8Array;
  /** The time at which the value is gone. */
  readonly until: number;
}

/** Bytes that a `Map` needs for an entry besides its key and value, roughly. */
const overhead = 100;
const sizeOf = (key: string, value: Uint8Array) => key.length + value.byteLength + overhead;

const sameBytes = (one: Uint8Array, other: Uint8Array): boolean =>
  one.byteLength === other.byteLength && one.every((byte, index) => byte === other[index]);

/**
 * Remembers in the memory of this process, until it ends. For one process that lives long, and for tests.
 *
 * @throws `ConfigurationError` if `maxSize` is invalid.
 * @example
 * const partner = new PodPartner({ baseUrl, secretKey, store: memoryStore({ maxSize: 16 * 1024 * 1024 }) });
 */
export function memoryStore(options: MemoryStoreOptions = {}): KeyValueStore {
  const { maxSize = 64 * 1024 * 1024, organization } = options;
  if (!(Number.isSafeInteger(maxSize) && maxSize > 0)) {
    const message = "expected a positive whole number of bytes";
    throw new ConfigurationError({ issues: [{ path: ["maxSize"], message }] });
  }
  const clock = reliable(options.clock ?? systemClock);
  // The least recently used entry is first.
  const entries = new Map<string, Entry>();
  let size = 0;
  const remove = (key: string): void => {
    const entry = entries.get(key);
    if (entry === undefined || !entries.delete(key)) return;
    size -= sizeOf(key, entry.value);
  };
  const read = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    if (entry === undefined || entry.until > clock.now()) return entry;
    remove(key);
    return undefined;
  };
  const holds = (key: string, expected: Uint8Array | null | undefined): boolean => {
    if (expected === undefined) return true;
    const entry = read(key);
    return expected === null ? entry === undefined : entry !== undefined && sameBytes(entry.value, expected);
  };
  return {
    kind: "memory",
    organization,
    async get(key) {
      const entry = read(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value.slice();
    },
    async set(key, value, { ttl = Number.POSITIVE_INFINITY, expected } = {}) {
      if (!holds(key, expected)) return false;
      remove(key);
      entries.set(key, { value: value.slice(), until: clock.now() + ttl });
      size += sizeOf(key, value);
      for (const oldest of entries.keys()) {
        if (size <= maxSize) break;
        remove(oldest);
      }
      return true;
    },
    async delete(key, { expected } = {}) {
      if (read(key) === undefined || !holds(key, expected)) return false;
      remove(key);
      return true;
    },
    async *keys(prefix) {
      for (const key of [...entries.keys()]) if (key.startsWith(prefix) && read(key) !== undefined) yield key;
    },
  };
}
