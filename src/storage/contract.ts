import * as z from "zod/mini";
import { ConfigurationError } from "../errors/validation.ts";
import { clock } from "../schemas/shape.ts";
import { reliable, systemClock } from "../util/clock.ts";

/** A condition for a change: compared and changed in one atomic step. */
export interface StorageExpectation {
  /** The bytes that the key must hold; `null` if it must hold nothing. Default: no condition. */
  readonly expected?: Uint8Array | null | undefined;
}

/** Options of {@link KeyValueStorage.set}. */
export interface StorageSetOptions extends StorageExpectation {
  /** Milliseconds until the value expires. Default: it stays until it is deleted, or until the storage needs the space. */
  readonly ttl?: number | undefined;
}

/**
 * Keeps bytes by key: what a client remembers of uploads, renders and files. `memoryStorage`, `sqliteStorage` of `pod-partner/sqlite`,
 * `postgresStorage` of `pod-partner/postgres` and `redisStorage` of `pod-partner/redis` make one; your own class can be one, too.
 *
 * A storage may drop a value at any time, for example when it is full. The client then pays again for what the value stood for. The client
 * stores no secrets. Keys are printable ASCII of at most 300 characters.
 */
export interface KeyValueStorage {
  /** What keeps the bytes, for example `sqlite`. */
  readonly kind: string;
  /**
   * A name for the organization, the same in all of its processes. Default: a hash of the secret key, so a new key starts empty.
   */
  readonly organization?: string | undefined;
  /** Resolves to the bytes of a key; undefined if it has none. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Sets the bytes of a key. Resolves to false, and sets nothing, if the key does not hold what is `expected`. */
  set(key: string, value: Uint8Array, options?: StorageSetOptions): Promise<boolean>;
  /** Deletes a key. Resolves to false if it held nothing, or does not hold what is `expected`. */
  delete(key: string, options?: StorageExpectation): Promise<boolean>;
  /** Iterates the keys that begin with a prefix, in any order. A key that is set or deleted during the iteration may be missing. */
  keys(prefix: string): AsyncIterable<string>;
}

/** The longest lifetime in milliseconds, 31 688 years: a larger number does not fit into the columns of a database. */
const maxLifetime = 1e15;

/** The lifetime of a value in whole milliseconds; 0 if it expires at once, undefined if it never expires. */
export function lifetimeOf(ttl: number | undefined): number | undefined {
  if (ttl === undefined || ttl === Number.POSITIVE_INFINITY) return undefined;
  if (Number.isNaN(Number(ttl))) throw new RangeError("`ttl` must be a number of milliseconds");
  return Math.min(Math.max(Math.ceil(ttl), 0), maxLifetime);
}

/** Throws a `ConfigurationError` for an option of a storage. */
export function refuse(path: readonly string[], message: string): never {
  throw new ConfigurationError({ issues: [{ path, message }] }, "storage");
}

/** Options of several storages. An empty name is refused: two organizations with it would share one part of the storage. */
export const organizationName = () => z.optional(z.string().check(z.minLength(1)));
/** The option `clock`. */
export const reliableClock = () => z.pipe(z._default(clock(), systemClock), z.transform(reliable));

/** The options of a storage whose only option is the name of the organization. */
export const storageOptions = () => z.strictObject({ organization: organizationName() });
