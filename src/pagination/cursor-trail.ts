import { CursorLoopError } from "../errors/response.ts";

/** The number of cursors that are remembered. A loop of at most this length is detected at its first repeat. */
const memory = 1_000;

/** Detects a repeated cursor in bounded memory. Brent's algorithm detects a loop longer than the memory. */
export class CursorTrail {
  readonly #endpoint: string;
  readonly #recent = new Set<string>();
  #landmark: string | undefined;
  #steps = 0;
  #limit = memory;

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
  }

  /**
   * Adds the next cursor.
   *
   * @throws {@link CursorLoopError} if the chain of pages repeats a cursor.
   */
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
