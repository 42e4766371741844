/** Runs work with the same key one after the other, and work with different keys in parallel. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Runs `work` after all earlier work with the same key. `wait` waits for a promise of the earlier work, which never rejects. If `wait`
   * rejects, this work is skipped, and the other work continues.
   */
  take<T>(name: string, work: () => Promise<T>, wait: (turn: Promise<unknown>) => Promise<unknown>): Promise<T> {
    const before = this.#last.get(name);
    const mine = before === undefined ? work() : wait(before).then(work);
    // The next work waits for all earlier work, also when this one is skipped.
    const settled = Promise.allSettled([before, mine]);
    this.#last.set(name, settled);
    void settled.then(() => {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    });
    return mine;
  }
}
