import { nameByHash } from "../util/digest.ts";
import type { KeyValueStorage, StorageExpectation, StorageSetOptions } from "./contract.ts";
import { seal, unseal } from "./values.ts";

/**
 * Makes the method `~scopeOf` of a client: it names the part of a storage that belongs to one organization of one service, by a hash of the
 * base URL and of the organization's name, or of the secret key without a name. The hash does not reveal the key, which has at least 12
 * random characters.
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
    // Without this, a change that expects an absent value would be refused for ever.
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
    // `await`: a storage of the caller may be an `async` function where a generator is expected.
    for await (const key of await this.#storage.keys(this.#prefix + prefix)) {
      if (key.startsWith(this.#prefix + prefix)) yield key.slice(this.#prefix.length);
    }
  }
}

const sealed = (key: string, expected: Uint8Array | null | undefined): StorageExpectation => ({
  expected: expected && seal(key, expected),
});

/** Checks what a storage of the caller returned for a key. A view of the same bytes, because the result may belong to another realm. */
function bytesOf(value: unknown): Uint8Array | undefined {
  if (value === undefined || value === null) return undefined;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  throw new TypeError(
    `\`get\` of the storage must resolve to a Uint8Array or undefined; it resolved to ${typeof value}`,
  );
}

/** Checks what a storage of the caller returned for a change. Without a clear word, two processes could both take a lock. */
async function truthOf(result: unknown): Promise<boolean> {
  const value = await result;
  if (typeof value === "boolean") return value;
  const kind = value === null ? "null" : typeof value;
  throw new TypeError(`\`set\` and \`delete\` of the storage must resolve to true or false; they resolved to ${kind}`);
}
