import type { Download } from "../../../binary/download.ts";
import { onAbort } from "../../../util/abort-signals.ts";
import type { PartnerClock } from "../../../util/clock.ts";
import type { Render } from "../renders.schema.ts";
import type { BatchCalls } from "./calls.ts";
import type { CompletedRender } from "./completions.ts";
import type { BatchDownload, SaveOptions } from "./options.ts";
import type { CompletedMockup, RenderedMockup, SavedMockup } from "./outcome.ts";
import type { RowWork } from "./row-work.ts";
import type { SavedPictures } from "./saved-pictures.ts";
import type { Slots } from "./slots.ts";

export type MockupValue = RenderedMockup | SavedMockup | CompletedMockup;

/** A mockup that waits for the caller. */
export interface ReadyMockup {
  /** Resolves to the value of the outcome, when the caller receives it. */
  readonly take: () => Promise<MockupValue>;
}

interface PictureParts {
  readonly calls: BatchCalls;
  readonly clock: PartnerClock;
  readonly slots: Slots;
  readonly download: BatchDownload | SaveOptions;
  /** Where pictures are saved, with the option for it. */
  readonly saved: SavedPictures | undefined;
  /** Milliseconds for which a picture stays open until the caller receives it. */
  readonly patience: number;
}

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
      return { take: async () => ({ render }) };
    }
    if (saved !== undefined) {
      const path = await this.#save(saved, render, media, row);
      return { take: async () => ({ render, path }) };
    }
    // An open picture keeps its place until the caller receives it, so that few are open.
    const release = await slots.take(row.left);
    try {
      return this.#held(render, await this.#open(render, media, row), row, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Keeps a picture open until the caller receives it. When that takes long, the picture is closed, and opened again at that moment. */
  #held(render: Render, media: Download, row: RowWork, release: () => void): ReadyMockup {
    const { clock, patience } = this.#parts;
    let isOpen = true;
    const stopTimer = clock.after(patience, () => {
      isOpen = false;
      void media.cancel();
    });
    const stopListening = onAbort(row.left, stopTimer);
    return {
      take: async () => {
        stopTimer();
        stopListening();
        release();
        return { render, media: isOpen ? media : await this.#open(render, undefined, row) };
      },
    };
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
