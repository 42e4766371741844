import { held } from "./abort-signals.ts";

/** A number of places, for work that may only be done a few at a time. */
export class Slots {
  #free: number;
  readonly #queue = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes a place, after those who came before. Resolves to the function that gives it back; a second call of it does nothing. */
  async take(signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) throw signal.reason;
    if (this.#free > 0) this.#free -= 1;
    else
      await held<void>(signal, (resolve) => {
        this.#queue.add(resolve);
        return () => this.#queue.delete(resolve);
      });
    let taken = true;
    return () => {
      if (taken) this.#giveBack();
      taken = false;
    };
  }

  #giveBack(): void {
    const [next] = this.#queue;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#queue.delete(next);
    next();
  }
}
