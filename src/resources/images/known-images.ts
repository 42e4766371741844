import type { ClientStore } from "../../stores/client-store.ts";
import { fromJson, toJson } from "../../stores/json.ts";
import { keepLease, type Lease, takeLease } from "../../stores/lease.ts";
import type { PartnerClock } from "../../util/clock.ts";
import type { PrintImage } from "./images.endpoints.ts";

/** Milliseconds of a lease, between two looks at the upload of another process, and the longest wait for it. */
const times = { lease: 10_000, look: 250, patience: 60_000 };

type Within = <T>(promise: Promise<T>) => Promise<T>;

/** The turn to upload: the image if another process has uploaded it. Call `release` at the end. */
interface Turn {
  readonly image?: PrintImage;
  release(): Promise<void>;
}

/** Renews a lease until the returned function is called, which releases it. */
function keep(lease: Lease, clock: PartnerClock): () => Promise<void> {
  const stopRenewing = keepLease(lease, times.lease, clock);
  return () => {
    stopRenewing();
    return lease.release();
  };
}

const nothing = async () => undefined;

/** What the store knows of the image of one content. */
export class KnownImages {
  readonly #store: ClientStore;
  readonly #isImage: (value: unknown) => value is PrintImage;
  readonly #clock: PartnerClock;
  readonly #key: string;
  readonly #leaseKey: string;

  constructor(store: ClientStore, hash: string, isImage: (value: unknown) => value is PrintImage, clock: PartnerClock) {
    this.#store = store;
    this.#isImage = isImage;
    this.#clock = clock;
    this.#key = `image:${hash}`;
    this.#leaseKey = `image-lease:${hash}`;
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
      const lease = await this.#lease(within);
      const release = typeof lease === "object" ? keep(lease, this.#clock) : nothing;
      try {
        // Another process may have finished before this one took the lease.
        const image = await within(this.read());
        if (image !== undefined) void release();
        if (image !== undefined) return { image, release };
      } catch (error) {
        void release();
        throw error;
      }
      if (lease !== undefined || this.#clock.now() >= until) return { release };
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

  /** Takes the lease. One that comes after the end of the call is released. */
  async #lease(within: Within): Promise<Lease | "lost" | undefined> {
    const taking = takeLease(this.#store, this.#leaseKey, times.lease);
    try {
      return await within(taking);
    } catch (error) {
      taking.then((late) => (typeof late === "object" ? late.release() : undefined));
      throw error;
    }
  }
}
