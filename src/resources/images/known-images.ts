import type { ClientStorage } from "../../storage/client-storage.ts";
import type { Lock } from "../../storage/lock.ts";
import { fromJson, toJson } from "../../storage/values.ts";
import type { PartnerClock } from "../../util/clock.ts";
import type { PrintImage } from "./images.endpoints.ts";

/** Milliseconds after which the lock of a dead process ends, between two looks at the upload of another process, and the longest wait for it. */
const times = { lock: 10_000, look: 250, patience: 60_000 };

type Within = <T>(promise: Promise<T>) => Promise<T>;

/** The turn to upload: the image if another process has uploaded it. Call `release` at the end. */
interface Turn {
  readonly image?: PrintImage;
  release(): Promise<void>;
}

const nothing = async () => undefined;

/** What the store knows of the image of one content. */
export class KnownImages {
  readonly #store: ClientStorage;
  readonly #isImage: (value: unknown) => value is PrintImage;
  readonly #clock: PartnerClock;
  readonly #key: string;
  readonly #lockKey: string;

  constructor(
    store: ClientStorage,
    hash: string,
    isImage: (value: unknown) => value is PrintImage,
    clock: PartnerClock,
  ) {
    this.#store = store;
    this.#isImage = isImage;
    this.#clock = clock;
    this.#key = `image:${hash}`;
    this.#lockKey = `image-lease:${hash}`;
  }

  /** Resolves to the image of the content; undefined if none is known. */
  async read(): Promise<PrintImage | undefined> {
    const found = fromJson(await this.#store.get(this.#key));
    return this.#isImage(found) ? { reference: found.reference } : undefined;
  }

  async write(image: PrintImage): Promise<void> {
    // With `responses: "report"` it can be anything.
    if (this.#isImage(image)) await this.#store.set(this.#key, toJson({ reference: image.reference }));
  }

  /**
   * Waits while another process uploads the content, at most a minute: two uploads do no harm, because identical content has the same
   * reference (specification 2.7).
   */
  async waitForTurn(within: Within): Promise<Turn> {
    const until = this.#clock.now() + times.patience;
    for (;;) {
      const lock = await this.#lock(within);
      const release = typeof lock === "object" ? lock.release : nothing;
      try {
        // Another process may have finished before this one took the lock.
        const image = await within(this.read());
        if (image !== undefined) void release();
        if (image !== undefined) return { image, release };
      } catch (error) {
        void release();
        throw error;
      }
      if (lock !== undefined || this.#clock.now() >= until) return { release };
      await this.#pause(within);
    }
  }

  async #pause(within: Within): Promise<void> {
    let stopTimer: () => void = () => undefined;
    const waited = new Promise<void>((resolve) => {
      stopTimer = this.#clock.after(times.look, resolve);
    });
    await within(waited).finally(stopTimer);
  }

  /** Takes the lock. One that comes after the end of the call is released. */
  async #lock(within: Within): Promise<Lock | "lost" | undefined> {
    const taking = this.#store.lock(this.#lockKey, times.lock);
    try {
      return await within(taking);
    } catch (error) {
      taking.then((late) => (typeof late === "object" ? late.release() : undefined));
      throw error;
    }
  }
}
