import type { Download } from "../../../binary/download.ts";
import type { Render } from "../renders.schema.ts";
import type { BatchCalls } from "./calls.ts";
import type { CompletedRender } from "./completions.ts";
import type { BatchDownload, SaveOptions } from "./options.ts";
import type { CompletedMockup, RenderedMockup, SavedMockup } from "./outcome.ts";
import type { RowWork } from "./row-work.ts";
import type { SavedPictures } from "./saved-pictures.ts";
import type { Slots } from "./slots.ts";

/** The value of an outcome. `release` is called when the caller receives it. */
export interface ReadyMockup {
  readonly value: RenderedMockup | SavedMockup | CompletedMockup;
  readonly release: () => void;
}

interface PictureParts {
  readonly calls: BatchCalls;
  readonly slots: Slots;
  readonly download: BatchDownload | SaveOptions;
  /** Where pictures are saved, with the option for it. */
  readonly saved: SavedPictures | undefined;
}

const nothing = () => undefined;

/** Opens, saves or leaves out the pictures of completed renders. */
export class Pictures {
  readonly #parts: PictureParts;

  constructor(parts: PictureParts) {
    this.#parts = parts;
  }

  async of({ render, media }: CompletedRender, row: RowWork): Promise<ReadyMockup> {
    const { slots, download, saved } = this.#parts;
    if (download === false) {
      await media?.cancel();
      return { value: { render }, release: nothing };
    }
    if (saved !== undefined)
      return { value: { render, path: await this.#save(saved, render, media, row) }, release: nothing };
    // An open picture keeps its place until the caller receives it, so that few are open.
    const release = await slots.take(row.left);
    try {
      return { value: { render, media: await this.#open(render, media, row) }, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #save(saved: SavedPictures, render: Render, media: Download | undefined, row: RowWork): Promise<string> {
    const { slots } = this.#parts;
    const download = (save: (media: Download) => Promise<void>) =>
      slots.run(row.left, async () => save(await this.#open(render, media, row)));
    try {
      return await saved.save(render, row, download);
    } finally {
      // It was not needed if the picture was saved before.
      await media?.cancel();
    }
  }

  async #open(render: Render, media: Download | undefined, row: RowWork): Promise<Download> {
    return media ?? (await this.#parts.calls.media(render.reference, row.reading()));
  }
}
