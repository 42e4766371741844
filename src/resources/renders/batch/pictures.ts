import type { Download } from "../../../binary/download.ts";
import { onAbort } from "../../../util/abort-signals.ts";
import type { PartnerClock } from "../../../util/clock.ts";
import type { Render } from "../renders.schema.ts";
import type { BatchCalls } from "./calls.ts";
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
  /**
   * Milliseconds from the request for a picture until it is closed, unless the caller has received it. They count from the request, because
   * its `timeout` does, and because pictures that share a connection wait for each other.
   */
  readonly patience: number;
}

/** The place of an open picture. */
interface Place {
  /** When the picture is closed. */
  readonly closes: number;
  /** Gives the place back. */
  readonly release: () => void;
}

/** Opens, saves or leaves out the pictures of completed renders. */
export class Pictures {
  readonly #parts: PictureParts;

  constructor(parts: PictureParts) {
    this.#parts = parts;
  }

  async of(render: Render, row: RowWork): Promise<ReadyMockup> {
    const { slots, download, saved } = this.#parts;
    if (download === false) return { take: async () => ({ render }) };
    if (saved !== undefined) {
      const path = await this.#save(saved, render, row);
      return { take: async () => ({ render, path }) };
    }
    // An open picture keeps its place until the caller receives it, so that few are open.
    const release = await slots.take(row.left);
    try {
      const closes = this.#parts.clock.now() + this.#parts.patience;
      return this.#held(render, await this.#open(render, row), row, { closes, release });
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Keeps a picture open until the caller receives it. When that takes long, the picture is closed, and opened again at that moment. */
  #held(render: Render, media: Download, row: RowWork, { closes, release }: Place): ReadyMockup {
    const { clock } = this.#parts;
    let isOpen = true;
    const stopTimer = clock.after(Math.max(0, closes - clock.now()), () => {
      isOpen = false;
      void media.cancel();
    });
    const stopListening = onAbort(row.left, stopTimer);
    return {
      take: async () => {
        stopTimer();
        stopListening();
        release();
        return { render, media: isOpen ? media : await this.#open(render, row) };
      },
    };
  }

  #save(saved: SavedPictures, render: Render, row: RowWork): Promise<string> {
    const download = (save: (media: Download) => Promise<void>) =>
      this.#parts.slots.run(row.left, async () => save(await this.#open(render, row)));
    return saved.save(render, row, download);
  }

  #open({ reference }: Render, row: RowWork): Promise<Download> {
    return this.#parts.calls.media(reference, row.reading());
  }
}
