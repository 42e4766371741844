import type { CancelScope } from "../../http/call/cancel-scope.ts";
import { check } from "../../schemas/check.ts";
import type { ClientStore } from "../../stores/client-store.ts";
import { fromJson, toJson } from "../../stores/json.ts";
import { type Lease, takeLease } from "../../stores/lease.ts";
import type { PartnerClock } from "../../util/clock.ts";
import { image, type PrintImage } from "./images.schema.ts";

/** Milliseconds of a lease, between two renewals of it, and between two looks at the upload of another process. */
const times = { lease: 10_000, renewal: 3_000, look: 250 };

/** Renews a lease until the returned function is called, which releases it. */
function keep(lease: Lease, clock: PartnerClock): () => Promise<void> {
  let over = false;
  let stopTimer: () => void = () => undefined;
  const wait = () => {
    stopTimer = clock.after(times.renewal, async () => {
      await lease.renew();
      if (!over) wait();
    });
  };
  wait();
  return () => {
    over = true;
    stopTimer();
    return lease.release();
  };
}

/** What the store knows of the image of one content. */
export class KnownImages {
  readonly #store: ClientStore;
  readonly #key: string;
  readonly #leaseKey: string;

  constructor(store: ClientStore, hash: string) {
    this.#store = store;
    this.#key = `image:${hash}`;
    this.#leaseKey = `image-lease:${hash}`;
  }

  /** Resolves to the image of the content; undefined if none is known. */
  async read(): Promise<Pick<PrintImage, "reference"> | undefined> {
    const found = check(image, fromJson(await this.#store.get(this.#key)), []);
    return found.ok ? { reference: (found.value as PrintImage).reference } : undefined;
  }

  /**
   * Uploads the content, unless another process does so at the same moment: then it waits for the image of that process, at most
   * `patience` milliseconds. Two uploads do no harm: identical content has the same reference (specification 2.7).
   */
  async uploadBy(
    upload: () => Promise<PrintImage>,
    unchanged: () => Promise<boolean>,
    scope: CancelScope,
    patience: number,
  ): Promise<Pick<PrintImage, "reference">> {
    const until = scope.elapsed() + patience;
    let lease = await this.#lease(scope);
    while (lease === undefined && scope.elapsed() < until) {
      await scope.sleep(times.look, "the next look at the upload of another process");
      const known = await scope.within(this.read());
      if (known !== undefined) return known;
      lease = await this.#lease(scope);
    }
    if (lease === undefined || lease === "lost") return this.#uploaded(upload, unchanged);
    const release = keep(lease, scope.clock);
    try {
      // Another process may have finished before this one took the lease.
      const image = (await scope.within(this.read())) ?? (await this.#uploaded(upload, unchanged));
      await release();
      return image;
    } catch (error) {
      // An abort does not wait for the store.
      void release();
      throw error;
    }
  }

  /** Uploads the content and remembers its image, unless the file has changed since it was hashed. */
  async #uploaded(upload: () => Promise<PrintImage>, unchanged: () => Promise<boolean>): Promise<PrintImage> {
    const made = await upload();
    if (await unchanged()) await this.#store.set(this.#key, toJson({ reference: made.reference }));
    return made;
  }

  /** Takes the lease. One that comes after the end of the call is released. */
  async #lease(scope: CancelScope): Promise<Lease | "lost" | undefined> {
    const taking = takeLease(this.#store, this.#leaseKey, times.lease);
    try {
      return await scope.within(taking);
    } catch (error) {
      taking.then((late) => (typeof late === "object" ? late.release() : undefined));
      throw error;
    }
  }
}
