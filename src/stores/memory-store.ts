import { type PartnerClock, reliable, systemClock } from "../util/clock.ts";
import { propertyOf } from "../util/foreign.ts";
import { adopters } from "./adopt.ts";
import { createMemory } from "./memory.ts";
import type { KeyValueStore } from "./store.ts";
import { readStoreOptions, refuse } from "./store-options.ts";

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * The maximum of the keys' and values' bytes. The least recently used values go first. A value that is larger than all of it is gone
   * at once. Default 67 108 864 (64 MiB).
   */
  readonly maxSize?: number | undefined;
  /** A name for the organization; see {@link KeyValueStore.organization}. */
  readonly organization?: string | undefined;
  /** The source of time. Default: the system clock. */
  readonly clock?: PartnerClock | undefined;
}

/**
 * Remembers in the memory of this process, until it ends. For one process that lives long, and for tests.
 *
 * @throws `ConfigurationError` if an option is invalid.
 * @example
 * const partner = new PodPartner({ baseUrl, secretKey, store: memoryStore({ maxSize: 16 * 1024 * 1024 }) });
 */
export function memoryStore(options: MemoryStoreOptions = {}): KeyValueStore {
  const {
    maxSize,
    organization,
    clock: given = systemClock,
  } = readStoreOptions(options, ["maxSize", "organization", "clock"]);
  if (maxSize !== undefined && !(Number.isSafeInteger(maxSize) && maxSize > 0))
    refuse(["maxSize"], "expected a positive whole number of bytes");
  if (typeof propertyOf(given, "now") !== "function")
    refuse(["clock"], "expected a clock with the functions `now` and `after`");
  const clock = reliable(given);
  const memory = createMemory(clock, maxSize);
  const store: KeyValueStore = {
    kind: "memory",
    organization,
    async get(key) {
      return memory.get(key);
    },
    async set(key, value, settings) {
      // The caller may change the bytes as soon as this function returns.
      const copy = new Uint8Array(value);
      return memory.set(key, copy, settings);
    },
    async delete(key, settings) {
      return memory.delete(key, settings);
    },
    async *keys(prefix) {
      yield* memory.keys(prefix);
    },
  };
  adopters.set(store.set, (...given) => memory.set(...given));
  return store;
}
