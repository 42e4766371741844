import { nameByHash } from "../util/digest.ts";
import type { KeyValueStorage, StorageExpectation, StorageSetOptions } from "./contract.ts";

/**
 * Makes the method `~scopeOf` of a client, which names the part of a storage that belongs to one organization of one service. The name is a
 * hash of the base URL and the organization's name, or of the secret key if there is no name. The hash does not reveal the key, which has at
 * least 12 random characters.
 */
export function createScopeOf(baseUrl: string, secretKey: string): (storage: KeyValueStorage) => Promise<string> {
  return async ({ organization }) => {
    const owner = organization === undefined ? `key\n${secretKey}` : `organization\n${organization}`;
    return nameByHash(`pod-partner storage\n${baseUrl}\n${owner}`);
  };
}

/**
 * One organization's part of a storage: each key gets the prefix of the organization, and each value a checksum. A damaged value counts as
 * absent, and is deleted.
 */
export class ScopedStorage implements KeyValueStorage {
  readonly kind: string;
  readonly #storage: KeyValueStorage;
  readonly #prefix: string;

  constructor(storage: KeyValueStorage, scope: string) {
    this.kind = storage.kind;
    this.#storage = storage;
    this.#prefix = `pod-partner:{${scope}}:`;
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    const sealed = bytesOf(await this.#storage.get(this.#prefix + key));
    if (sealed === undefined) return undefined;
    const value = unseal(key, sealed);
    // Otherwise every change that expects no value would be refused.
    if (value === undefined) await this.#storage.delete(this.#prefix + key, { expected: sealed });
    return value;
  }

  async set(key: string, value: Uint8Array, { ttl, expected }: StorageSetOptions = {}): Promise<boolean> {
    return truthOf(this.#storage.set(this.#prefix + key, seal(key, value), { ttl, ...sealed(key, expected) }));
  }

  async delete(key: string, { expected }: StorageExpectation = {}): Promise<boolean> {
    return truthOf(this.#storage.delete(this.#prefix + key, sealed(key, expected)));
  }

  async *keys(prefix: string): AsyncGenerator<string> {
    // `await`: the caller's `keys` may be an `async` function that returns a generator.
    for await (const key of await this.#storage.keys(this.#prefix + prefix)) {
      if (key.startsWith(this.#prefix + prefix)) yield key.slice(this.#prefix.length);
    }
  }
}

/** Without a condition there is no field `expected`: the caller's storage may test for it with `in`. */
const sealed = (key: string, expected: Uint8Array | null | undefined): StorageExpectation =>
  expected === undefined ? {} : { expected: expected && seal(key, expected) };

/** Checks what the caller's storage returned for a key. Makes a new view of the bytes, because the result may belong to another realm. */
function bytesOf(value: unknown): Uint8Array | undefined {
  if (value === undefined || value === null) return undefined;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  throw new TypeError(
    `\`get\` of the storage must resolve to a Uint8Array or undefined; it resolved to ${typeof value}`,
  );
}

/** Checks what the caller's storage returned for a change. Without a boolean, two processes could both take a lock. */
async function truthOf(result: unknown): Promise<boolean> {
  const value = await result;
  if (typeof value === "boolean") return value;
  const kind = value === null ? "null" : typeof value;
  throw new TypeError(`\`set\` and \`delete\` of the storage must resolve to true or false; they resolved to ${kind}`);
}

/** Bytes of the checksum. */
const checksumSize = 8;

/** Mixes the whole 32-bit words of some bytes into two hashes. A changed word always changes both. */
function mix([one = 0, other = 0]: readonly number[], { buffer, byteOffset, byteLength }: Uint8Array): number[] {
  const words = new DataView(buffer, byteOffset, byteLength);
  for (let at = 0; at + 4 <= byteLength; at += 4) {
    const word = words.getInt32(at);
    one = Math.imul(one ^ word, 0x85ebca6b);
    one ^= one >>> 15;
    other = Math.imul(((other << 13) | (other >>> 19)) ^ word, 0xc2b2ae35);
  }
  return [one, other];
}

/**
 * A checksum of 64 bits, which finds damage but not forgery. It is synchronous: a digest of the platform would take longer than the storage
 * itself, and while a test moves its clock, the storage's time limit could pass.
 */
function checksum(key: string, value: Uint8Array): Uint8Array {
  const name = new TextEncoder().encode(key);
  // The key, and the bytes after the last whole word of the value.
  const rest = new Uint8Array((name.byteLength + 7) & ~3);
  rest.set(name);
  rest.set(value.subarray(value.byteLength & ~3), name.byteLength);
  return new Uint8Array(Int32Array.from(mix(mix([value.byteLength, name.byteLength], value), rest)).buffer);
}

/** Puts a checksum of the key and the value before the value. */
export function seal(key: string, value: Uint8Array): Uint8Array {
  const sealed = new Uint8Array(checksumSize + value.byteLength);
  sealed.set(checksum(key, value));
  sealed.set(value, checksumSize);
  return sealed;
}

/** Returns the value without its checksum; undefined if the value is damaged or belongs to another key. */
export function unseal(key: string, sealed: Uint8Array): Uint8Array | undefined {
  const value = sealed.subarray(checksumSize);
  return checksum(key, value).every((byte, index) => byte === sealed[index]) ? value : undefined;
}
