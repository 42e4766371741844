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
    const sealed = await this.#store.get(this.#prefix + key);
    if (sealed === undefined) return undefined;
    const value = await unseal(key, sealed);
    // Without this, a change that expects an absent value would be refused for ever.
    if (value === undefined) await this.#store.delete(this.#prefix + key, { expected: sealed });
    return value;
  }

  async set(key: string, value: Uint8Array, { ttl, expected }: StoreSetOptions = {}): Promise<boolean> {
    return this.#store.set(this.#prefix + key, await seal(key, value), { ttl, ...(await sealed(key, expected)) });
  }

  async delete(key: string, { expected }: StoreExpectation = {}): Promise<boolean> {
    return this.#store.delete(this.#prefix + key, await sealed(key, expected));
  }

  async *keys(prefix: string): AsyncGenerator<string> {
    for await (const key of this.#store.keys(this.#prefix + prefix)) yield key.slice(this.#prefix.length);
  }
}

const sealed = async (key: string, expected: Uint8Array | null | undefined): Promise<StoreExpectation> => ({
  expected: expected && (await seal(key, expected)),
});
