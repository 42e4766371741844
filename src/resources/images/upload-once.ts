import { type Content, readContent } from "../../binary/content.ts";
import type { ImageSource, Upload } from "../../binary/source.ts";
import { type UploadWatch, watchUpload } from "../../binary/upload.ts";
import type { Call } from "../../http/call.ts";
import type { CallContext } from "../../http/call-context.ts";
import { optionFaults } from "../../http/request-options.ts";
import { sendWithRetries } from "../../http/retry.ts";
import { type ImageUploadOptions, splitWatch } from "../../http/upload.ts";
import { check } from "../../schemas/check.ts";
import type { ClientStorage } from "../../storage/client-storage.ts";
import type { Lock } from "../../storage/lock.ts";
import { fromJson, toJson } from "../../storage/values.ts";
import { onAbort } from "../../util/abort-signals.ts";
import type { PartnerClock } from "../../util/clock.ts";
import { image, type PrintImage, uploadImage } from "./images.endpoints.ts";

/** Milliseconds after which the lock of a dead process ends, between two looks at the upload of another process, and the longest wait for it. */
const times = { lock: 10_000, look: 250, patience: 60_000 };

type Within = <T>(promise: Promise<T>) => Promise<T>;

/** The turn to upload: the image if another process has uploaded it. Call `release` at the end. */
interface Turn {
  readonly image?: PrintImage;
  release(): Promise<void>;
}

const nothing = async () => undefined;

/** What the storage knows of the image of one content. */
class KnownImages {
  readonly #storage: ClientStorage;
  readonly #isImage: (value: unknown) => value is PrintImage;
  readonly #clock: PartnerClock;
  readonly #key: string;
  readonly #lockKey: string;

  constructor(
    storage: ClientStorage,
    hash: string,
    isImage: (value: unknown) => value is PrintImage,
    clock: PartnerClock,
  ) {
    this.#storage = storage;
    this.#isImage = isImage;
    this.#clock = clock;
    this.#key = `image:${hash}`;
    this.#lockKey = `image-lease:${hash}`;
  }

  /** Resolves to the image of the content; undefined if none is known. */
  async read(): Promise<PrintImage | undefined> {
    const found = fromJson(await this.#storage.get(this.#key));
    return this.#isImage(found) ? { reference: found.reference } : undefined;
  }

  async write(image: PrintImage): Promise<void> {
    // With `responses: "report"` it can be anything.
    if (this.#isImage(image)) await this.#storage.set(this.#key, toJson({ reference: image.reference }));
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
    const taking = this.#storage.lock(this.#lockKey, times.lock);
    try {
      return await within(taking);
    } catch (error) {
      taking.then((late) => (typeof late === "object" ? late.release() : undefined));
      throw error;
    }
  }
}

/** The image of a content that is uploaded at most once. */
export interface UploadedImage extends PrintImage {
  /** Whether this call sent the content. False if the image is known from an earlier call, or from one at the same time. */
  readonly uploaded: boolean;
}

/** The uploads of a client that are running, by the hash of their content. */
export type RunningUploads = Map<string, Promise<PrintImage>>;

const isImage = (value: unknown): value is PrintImage => check(image, value, []).ok;

/** Uploads a content unless its image is known: hash, look at the storage, take the lock, upload, store. */
export function uploadOnce(
  context: CallContext,
  running: RunningUploads,
  source: ImageSource,
  given: ImageUploadOptions | undefined,
): Promise<UploadedImage> {
  const [watch, options] = splitWatch(given, "onProgress", "onDownsize");
  return context.run(uploadImage, options, async (call) => {
    const over = new AbortController();
    let content: Content | undefined;
    try {
      const input = { body: source, faults: optionFaults(watch, "upload") };
      const request = await call.open(input, async (upload) => {
        const read = await readContent(upload, over.signal, call.name);
        // The call may have ended meanwhile.
        onAbort(over.signal, () => void read.remove());
        content = read;
        return read.upload;
      });
      if (content === undefined) throw new TypeError("the source was not read");
      const { hash, unchanged } = content;

      const images = new KnownImages(await call.within(context.openStorage()), hash, isImage, context.clock);
      const known = await call.within(images.read());
      if (known !== undefined) return { ...known, uploaded: false };
      for (let other = running.get(hash); other !== undefined; other = running.get(hash)) {
        // After a failure or an abort of that call, this one uploads with its own options.
        const made = await call.within(other.catch(() => undefined));
        if (made !== undefined) return { ...made, uploaded: false };
      }

      const upload = async (): Promise<UploadedImage> => {
        const { image: other, release } = await images.waitForTurn((promise) => call.within(promise));
        if (other !== undefined) return { ...other, uploaded: false };
        try {
          const body = await observed(call, request.body as Upload, watch);
          const { data } = await sendWithRetries(call, { ...request, body }, (arrival) => call.read(arrival));
          if (await unchanged()) await images.write(data);
          await release();
          return { ...data, uploaded: true };
        } catch (error) {
          // An abort does not wait for the storage.
          void release();
          throw error;
        }
      };
      const mine = upload().finally(() => running.delete(hash));
      running.set(hash, mine);
      return await mine;
    } finally {
      over.abort();
      // The process may be killed right after the call.
      await content?.remove();
    }
  });
}

/** Inspects the picture that will be sent, and observes its bytes. A picture that is not sent is not inspected. */
function observed(call: Call<never, unknown>, upload: Upload, watch: UploadWatch): Promise<Upload> {
  return call.within(watchUpload(upload, watch, { endpoint: call.name, end: (reason) => call.scope.end(reason) }));
}
