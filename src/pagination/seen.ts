import { CursorLoopError } from "../errors/response.ts";
import { textOf } from "../util/foreign.ts";

/** How many cursors are remembered. A loop of at most this many pages is found at its first repeat. */
const rememberedCursors = 1_000;

/** Finds a repeated cursor in bounded memory. Brent's algorithm finds a loop that is longer than the memory. */
export class SeenCursors {
  readonly #endpoint: string;
  readonly #recent = new Set<string>();
  #landmark: string | undefined;
  #steps = 0;
  #stepsToLandmark = rememberedCursors;

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
  }

  /**
   * Adds the next cursor.
   *
   * @throws {@link CursorLoopError} if the chain of pages repeats a cursor.
   */
  add(cursor: string): void {
    if (this.#recent.has(cursor) || cursor === this.#landmark) throw new CursorLoopError({ endpoint: this.#endpoint });
    this.#recent.add(cursor);
    const [oldest = cursor] = this.#recent;
    if (this.#recent.size > rememberedCursors) this.#recent.delete(oldest);
    this.#steps += 1;
    if (this.#steps < this.#stepsToLandmark) return;
    this.#landmark = cursor;
    this.#steps = 0;
    this.#stepsToLandmark *= 2;
  }
}

/** How many pages are remembered. New items move an older item to a later page while the list is read, but not this far. */
const rememberedPages = 8;

/** Leaves out items whose reference was on one of the last pages, in bounded memory. */
export class SeenItems<Item> {
  /** The references that each of the last pages added. */
  readonly #pages: Set<string>[] = [];

  withoutRepeats(items: readonly Item[]): readonly Item[] {
    const added = new Set<string>();
    this.#pages.push(added);
    const fresh = items.filter((item) => {
      const reference = textOf(item, "reference");
      if (reference === undefined) return true;
      if (this.#pages.some((page) => page.has(reference))) return false;
      added.add(reference);
      return true;
    });
    if (this.#pages.length > rememberedPages) this.#pages.shift();
    return fresh;
  }
}
