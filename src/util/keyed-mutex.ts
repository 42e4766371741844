/** Runs work of the same name one after the other, and work of different names side by side. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Waits for its turn, then works. `wait` is given a promise that never fails, of the turns before; when it gives up
   * that wait, the others' work goes on.
   */
  take<T>(name: string, work: () => Promise<T>, wait: (turn: Promise<unknown>) => Promise<unknown>): Promise<T> {
    const before = this.#last.get(name);
    const mine = before === undefined ? work() : wait(before).then(work);
    // The next in line waits for whoever is under way, also when this one leaves the line.
    const settled = Promise.allSettled([before, mine]);
    this.#last.set(name, settled);
    void settled.then(() => {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    });
    return mine;
  }
}
