/** The values of the keys that were used last. Keys may be endless, so older values go. */
export class Latest<Value> {
  readonly #most: number;
  /** The least recently used is first. */
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

  /** Forgets the value of a key. With `value`, only if the key does not have another one by now. */
  forget(key: string, value: Value | undefined = this.#values.get(key)): void {
    if (this.#values.get(key) === value) this.#values.delete(key);
  }
}
