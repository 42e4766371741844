import { ConfigurationError } from "../errors/validation.ts";
import { type PartnerClock, reliable } from "../util/clock.ts";
import { withFields } from "../util/fields.ts";
import { propertyOf } from "../util/foreign.ts";

/** What a key must hold before a change, compared and changed in one atomic step. */
export interface StorageExpectation {
  /** The bytes that the key must hold; `null` if it must hold nothing. Default: the change happens in any case. */
  readonly expected?: Uint8Array | null | undefined;
}

/** How a value is set. */
export interface StorageSetOptions extends StorageExpectation {
  /** Milliseconds until the value is gone. Default: it stays until it is deleted, or until the storage needs its place. */
  readonly ttl?: number | undefined;
}

/**
 * Keeps bytes by key: what a client remembers of uploads, renders and files. `memoryStorage`, `sqliteStorage` of `pod-partner/sqlite`,
 * `postgresStorage` of `pod-partner/postgres` and `redisStorage` of `pod-partner/redis` make one; your own class can be one, too.
 *
 * A value may go at any time, for example when a storage is full: then the client pays again for what it was. The client gives no secret
 * to a storage. Keys are printable ASCII of at most 300 characters.
 */
export interface KeyValueStorage {
  /** What keeps the bytes, for example `sqlite`. */
  readonly kind: string;
  /**
   * A name for the organization, the same in all of its processes. Default: a hash of the secret key, so a new key begins with nothing.
   */
  readonly organization?: string | undefined;
  /** Resolves to the bytes of a key; undefined if it holds none. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Sets the bytes of a key. Resolves to false, and sets nothing, if the key does not hold what is `expected`. */
  set(key: string, value: Uint8Array, options?: StorageSetOptions): Promise<boolean>;
  /** Deletes a key. Resolves to false if it held nothing, or does not hold what is `expected`. */
  delete(key: string, options?: StorageExpectation): Promise<boolean>;
  /** Iterates the keys that begin with a prefix, in any order. A key that is set or deleted meanwhile may be missing. */
  keys(prefix: string): AsyncIterable<string>;
}

/** The longest lifetime in milliseconds, 31 688 years: a larger number does not fit into the columns of a database. */
const longestLifetime = 1e15;

/** The lifetime of a value in whole milliseconds, 0 for a value that is gone at once; undefined for one that stays. */
export function lifetimeOf(ttl: number | undefined): number | undefined {
  if (ttl === undefined || ttl === Number.POSITIVE_INFINITY) return undefined;
  if (Number.isNaN(Number(ttl))) throw new RangeError("`ttl` must be a number of milliseconds");
  return Math.min(Math.max(Math.ceil(ttl), 0), longestLifetime);
}

/** Throws a `ConfigurationError` for an option of a storage. */
export function refuse(path: readonly string[], message: string): never {
  throw new ConfigurationError({ issues: [{ path, message }] }, "storage");
}

/** Reads the options. Refuses unknown ones, which may be typing errors, and a name for the organization that is not a text. */
export function readStorageOptions<Options extends { readonly organization?: string | undefined }>(
  given: Options,
  known: readonly string[],
): Options {
  const options = withFields(given, (fields) => fields);
  if (Object.is(options, given)) refuse([], `expected an object with ${known.join(" or ")}`);
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) refuse([name], `unknown option; expected ${known.join(" or ")}`);
  }
  const { organization }: { readonly organization?: unknown } = options;
  // Two organizations with an empty name would share one part of the storage.
  if (organization !== undefined && (typeof organization !== "string" || organization === "")) {
    refuse(["organization"], "expected a text that is not empty");
  }
  return options;
}

/** Checks the option `clock` of a storage. */
export function readClock(clock: PartnerClock): PartnerClock {
  if (typeof propertyOf(clock, "now") !== "function")
    refuse(["clock"], "expected a clock with the functions `now` and `after`");
  return reliable(clock);
}
