/** A map that keeps only the most recently used keys. */
export class Latest<Value> {
  readonly #most: number;
  /** The least recently used key is first. */
  readonly #values = new Map<string, Value>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): Value | undefined {
    const value = this.#values.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    const [oldest] = this.#values.keys();
    if (this.#values.size > this.#most && oldest !== undefined) this.#values.delete(oldest);
  }

  /** Deletes a key. With `value`, only if the key still has this value. */
  forget(key: string, value: Value | undefined = this.#values.get(key)): void {
    if (this.#values.get(key) === value) this.#values.delete(key);
  }
}
