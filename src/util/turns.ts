/** Runs work of the same name one after the other, and work of different names side by side. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Waits for its turn, then works. An abort while it waits ends the wait; the others' work goes on. */
  take<T>(name: string, work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const before = this.#last.get(name);
    const mine = before === undefined ? work() : untilAborted(before, signal).then(work);
    // The next in line waits for whoever is under way, also when this one leaves the line.
    const settled = Promise.allSettled([before, mine]);
    this.#last.set(name, settled);
    void settled.then(() => {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    });
    return mine;
  }
}

/** Waits for something that never fails, or until the signal's reason ends the wait. */
function untilAborted(wait: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    void wait.then(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
  });
}
