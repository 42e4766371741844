import { CursorLoopError } from "../errors/pagination.ts";

/** So many cursors are remembered: a shorter loop is found at once. */
const memory = 1_000;

/** Notices a cursor that comes back, in bounded memory: a loop longer than the memory is found by Brent's algorithm. */
export class CursorTrail {
  readonly #endpoint: string;
  readonly #recent = new Set<string>();
  #landmark: string | undefined;
  #steps = 0;
  #limit = memory;

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
  }

  /** @throws {@link CursorLoopError} when the chain of pages has been at this cursor before. */
  follow(cursor: string): void {
    if (this.#recent.has(cursor) || cursor === this.#landmark) throw new CursorLoopError({ endpoint: this.#endpoint });
    this.#recent.add(cursor);
    if (this.#recent.size > memory) {
      const [oldest] = this.#recent;
      if (oldest !== undefined) this.#recent.delete(oldest);
    }
    this.#steps += 1;
    if (this.#steps === this.#limit) {
      this.#landmark = cursor;
      this.#steps = 0;
      this.#limit *= 2;
    }
  }
}
