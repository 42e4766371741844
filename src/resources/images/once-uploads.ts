import { type Content, type Refuse, readContent } from "../../binary/content.ts";
import type { Upload } from "../../binary/source.ts";
import type { EndCall, UploadWatch } from "../../binary/upload-watch.ts";
import { PodPartnerError } from "../../errors/base.ts";
import { RequestValidationError } from "../../errors/validation.ts";
import type { Delivery } from "../../http/call/core.ts";
import { nameOf } from "../../http/endpoint/endpoint.ts";
import type { Delivered } from "../../http/retry/recovery.ts";
import { check } from "../../schemas/check.ts";
import { onAbort } from "../../util/abort-signals.ts";
import { wordsOf } from "../../util/foreign.ts";
import type { CallContext } from "../../waiting/call-context.ts";
import { uploadImage } from "./images.endpoints.ts";
import { image, type PrintImage } from "./images.schema.ts";
import { KnownImages } from "./known-images.ts";

/** A call of `images.uploadOnce` whose source is open. */
interface OnceCall {
  readonly upload: Upload;
  readonly watch: UploadWatch;
  readonly end: EndCall;
  /** Aborts when the call ends. */
  readonly signal: AbortSignal;
}

type Run = () => Promise<Delivered<PrintImage>>;
type Within = Delivery<PrintImage>["within"];

/** A call of `images.uploadOnce` whose content was read. */
export interface OnceUpload {
  readonly upload: Upload;
  /** Resolves to the image that is known, or to that of `run`. */
  image(run: Run, within: Within): Promise<Delivered<PrintImage>>;
}

const isImage = (value: unknown): value is PrintImage => check(image, value, []).ok;

const refuse: Refuse = (what: string, error: unknown): Error =>
  error instanceof PodPartnerError
    ? error
    : new RequestValidationError({
        issues: [{ path: [], message: `${what}: ${wordsOf(error)}` }],
        endpoint: nameOf(uploadImage),
      });

const ignore = () => undefined;

/** A result without a request: `uploadOnce` shows no response. */
const known = (data: PrintImage) => ({ data, recovered: true }) as Delivered<PrintImage>;

/** Uploads each content at most once. */
export class OnceUploads {
  readonly #context: CallContext;
  /** The uploads that are running, by the hash of their content. */
  readonly #running = new Map<string, Promise<Delivered<PrintImage>>>();

  constructor(context: CallContext) {
    this.#context = context;
  }

  /** Reads the content of a call. */
  async begin(call: OnceCall): Promise<OnceUpload> {
    const { watch, end, signal } = call;
    const content = await readContent(call.upload, signal, refuse);
    onAbort(signal, () => void content.remove());
    const { onProgress, onDownsize } = watch;
    const plain: Upload = { replayable: true, body: () => content.blob };
    const observe = async (own: UploadWatch) =>
      (await import("../../binary/watch-upload.ts")).watchUpload(plain, own, end);
    return {
      upload: onProgress === undefined ? plain : await observe({ onProgress }),
      image: async (run, within) => {
        const send = async () => {
          // A picture that is not sent is not inspected.
          if (onDownsize !== undefined) await within(observe({ onDownsize }));
          return run();
        };
        const made = await this.#image(content, send, within);
        // The process may be killed right after the call.
        await content.remove();
        return made;
      },
    };
  }

  /** The image of a content: the one that is known, the one that another call is uploading, or a new one. */
  async #image(content: Content, run: Run, within: Within): Promise<Delivered<PrintImage>> {
    const { hash } = content;
    const { clock, openStore } = this.#context;
    const images = new KnownImages(await within(openStore()), hash, isImage, clock);
    const image = await within(images.read());
    if (image !== undefined) return known(image);
    for (let other = this.#running.get(hash); other !== undefined; other = this.#running.get(hash)) {
      // After a failure or an abort of that call, this one uploads with its own options.
      const result = await within(other.catch(ignore));
      if (result !== undefined) return known(result.data);
    }
    const running = this.#upload(images, content, run, within).finally(() => this.#running.delete(hash));
    this.#running.set(hash, running);
    return running;
  }

  /** Uploads the content, unless another process does so at the same time. Remembers its image, unless its file has changed. */
  async #upload(images: KnownImages, content: Content, run: Run, within: Within): Promise<Delivered<PrintImage>> {
    const { image, release } = await images.waitForTurn(within);
    if (image !== undefined) return known(image);
    try {
      const made = await run();
      if (await content.unchanged()) await images.write(made.data);
      await release();
      return made;
    } catch (error) {
      // An abort does not wait for the store.
      void release();
      throw error;
    }
  }
}
