import { adopters } from "./adopt.ts";
import { seal, unseal } from "./seal.ts";
import type { KeyValueStore, StoreExpectation, StoreSetOptions } from "./store.ts";

/**
 * One organization's part of a store: each key gets the prefix of the organization, and each value a checksum. A damaged value counts as
 * absent, and is deleted.
 */
export class ScopedStore implements KeyValueStore {
  readonly kind: string;
  readonly #store: KeyValueStore;
  readonly #prefix: string;

  constructor(store: KeyValueStore, scope: string) {
    this.kind = store.kind;
    this.#store = store;
    this.#prefix = `pod-partner:{${scope}}:`;
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    const sealed = bytesOf(await this.#store.get(this.#prefix + key));
    if (sealed === undefined) return undefined;
    const value = unseal(key, sealed);
    // Without this, a change that expects an absent value would be refused for ever.
    if (value === undefined) await this.#store.delete(this.#prefix + key, { expected: sealed });
    return value;
  }

  async set(key: string, value: Uint8Array, { ttl, expected }: StoreSetOptions = {}): Promise<boolean> {
    const given = [this.#prefix + key, seal(key, value), { ttl, ...sealed(key, expected) }] as const;
    // The sealed bytes are new, and are not changed later.
    const adopt = adopters.get(this.#store.set);
    return truthOf(adopt === undefined ? this.#store.set(...given) : adopt(...given));
  }

  async delete(key: string, { expected }: StoreExpectation = {}): Promise<boolean> {
    return truthOf(this.#store.delete(this.#prefix + key, sealed(key, expected)));
  }

  async *keys(prefix: string): AsyncGenerator<string> {
    // `await`: a store of the caller may be an `async` function where a generator is expected.
    for await (const key of await this.#store.keys(this.#prefix + prefix)) {
      if (key.startsWith(this.#prefix + prefix)) yield key.slice(this.#prefix.length);
    }
  }
}

const sealed = (key: string, expected: Uint8Array | null | undefined): StoreExpectation => ({
  expected: expected && seal(key, expected),
});

/** Checks what a store of the caller returned for a key. A view of the same bytes, because the result may belong to another realm. */
function bytesOf(value: unknown): Uint8Array | undefined {
  if (value === undefined || value === null) return undefined;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  throw new TypeError(
    `\`get\` of the store must resolve to a Uint8Array or undefined; it resolved to ${nameOf(value)}`,
  );
}

/** Checks what a store of the caller returned for a change. Without a clear word, two processes could both take a lease. */
async function truthOf(result: unknown): Promise<boolean> {
  const value = await result;
  if (typeof value === "boolean") return value;
  throw new TypeError(
    `\`set\` and \`delete\` of the store must resolve to true or false; they resolved to ${nameOf(value)}`,
  );
}

/** The kind of a value. The value itself may be secret. */
const nameOf = (value: unknown): string => (value === null ? "null" : typeof value);
