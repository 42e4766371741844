import type { ImageReference } from "../../../references/references.ts";
import type { Render, RenderInput } from "../renders.schema.ts";
import type { BatchCalls } from "./calls.ts";
import type { Completions } from "./completions.ts";
import type { Compositions } from "./compositions.ts";
import type { Creations, ObtainedRender } from "./creations.ts";
import { keyOfPair } from "./entries.ts";
import { assertInput, type MockupInput } from "./input.ts";
import { Latest } from "./latest.ts";
import type { Pictures, ReadyMockup } from "./pictures.ts";
import type { RowWork } from "./row-work.ts";
import type { Tokens } from "./tokens.ts";

/** Pairs that one batch keeps in memory. */
const most = 2_000;

/** The rows that wait for a render. It forgets each one when it has the render: a promise that never settles would keep all of them. */
class WaitingRows {
  readonly #rows = new Set<RowWork>();
  #begun = false;

  /** Is called at the first wait: until another process has created the render, or until it should be completed. */
  readonly begin = (): void => {
    this.#begun = true;
    for (const row of this.#rows) row.waits();
  };

  /** Waits for the render of a row. */
  async within<T>(row: RowWork, wait: () => Promise<T>): Promise<T> {
    if (this.#begun) row.waits();
    this.#rows.add(row);
    try {
      return await wait();
    } finally {
      this.#rows.delete(row);
    }
  }
}

/** The render of a pair, which all rows of the pair share. */
interface SharedRender {
  readonly obtained: Promise<ObtainedRender>;
  readonly rows: WaitingRows;
  completed: Promise<Render> | undefined;
}

interface MockupParts {
  readonly calls: BatchCalls;
  readonly compositions: Compositions;
  readonly creations: Creations;
  readonly completions: Completions;
  readonly pictures: Pictures;
  readonly tokens: Tokens;
}

/** Makes the mockup of each row. */
export class Mockups {
  readonly #parts: MockupParts;
  readonly #shared = new Latest<SharedRender>(most);

  constructor(parts: MockupParts) {
    this.#parts = parts;
  }

  /** Makes the mockup of one row. */
  async make(input: MockupInput, row: RowWork): Promise<ReadyMockup> {
    assertInput(input);
    const { reference: compositionReference, tokenCost } = await this.#parts.compositions.of(input, row);
    const pair = { compositionReference, imageReference: await this.#imageOf(input, tokenCost, row) };
    const shared = this.#shared.get(keyOfPair(pair)) ?? this.#share(pair, tokenCost, row);
    const render = await shared.rows.within(row, () => this.#complete(shared, pair, row));
    return this.#parts.pictures.of(render, row);
  }

  async #complete(shared: SharedRender, pair: RenderInput, row: RowWork): Promise<Render> {
    const { entry } = await shared.obtained;
    shared.completed ??= this.#parts.completions.of(pair, entry, row, shared.rows.begin).catch((error: unknown) => {
      // After a failure, the next row of the pair waits again.
      shared.completed = undefined;
      throw error;
    });
    return shared.completed;
  }

  /** Uploads the image of a row. It is not uploaded when the tokens do not cover its render. */
  async #imageOf({ imageReference, image }: MockupInput, cost: number, row: RowWork): Promise<ImageReference> {
    if (image === undefined) return imageReference;
    this.#parts.tokens.check(cost);
    return this.#parts.calls.upload(image, row.reading());
  }

  #share(pair: RenderInput, cost: number, row: RowWork): SharedRender {
    const key = keyOfPair(pair);
    const rows = new WaitingRows();
    const obtained = this.#parts.creations.obtain(pair, cost, row, rows.begin);
    const shared: SharedRender = { obtained, rows, completed: undefined };
    this.#shared.set(key, shared);
    // After a failure, the next row of the pair tries again.
    shared.obtained.catch(() => this.#shared.forget(key, shared));
    return shared;
  }
}
