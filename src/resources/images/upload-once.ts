import { type Content, readContent } from "../../binary/content.ts";
import type { Opened, UploadOpening } from "../../binary/source.ts";
import { attachCall, PodPartnerError } from "../../errors/base.ts";
import { type CallSite, framesOf, withCallSite } from "../../errors/call-site.ts";
import { RequestTimeoutError } from "../../errors/connection.ts";
import { CancelScope } from "../../http/call/cancel-scope.ts";
import { type Send, strictly } from "../../http/call/core.ts";
import { type ImageUploadOptions, uploadInput } from "../../http/call/send-upload.ts";
import { assertOptions } from "../../http/endpoint/check-options.ts";
import { nameOf } from "../../http/endpoint/endpoint.ts";
import type { ImageReference } from "../../references/references.ts";
import { splitFields } from "../../util/split-fields.ts";
import type { CallContext } from "../../waiting/call-context.ts";
import { uploadImage } from "./images.endpoints.ts";
import type { PrintImage } from "./images.schema.ts";
import { KnownImages } from "./known-images.ts";

/** The image of a content that is uploaded at most once. */
export interface UploadedImage {
  readonly reference: ImageReference;
  /** Whether this call sent the content. False if the image is known from an earlier call, or from one at the same moment. */
  readonly uploaded: boolean;
}

/** A call of `images.uploadOnce` whose source is open. */
export interface OnceCall {
  readonly opening: UploadOpening<Opened>;
  readonly options: ImageUploadOptions;
  readonly callSite: CallSite;
}

const endpoint = nameOf(uploadImage);
const ignore = () => undefined;

/** Uploads each content at most once. */
export class OnceUploads {
  readonly #send: Send;
  readonly #context: CallContext;
  /** The uploads that are running, by the hash of their content. */
  readonly #running = new Map<string, Promise<PrintImage>>();

  constructor(send: Send, context: CallContext) {
    this.#send = send;
    this.#context = context;
  }

  async upload({ opening, options, callSite }: OnceCall): Promise<UploadedImage> {
    const stop = new AbortController();
    let scope: CancelScope | undefined;
    let content: Promise<Content> | undefined;
    try {
      assertOptions("uploadOnce", options, endpoint);
      const { clock, deadline } = this.#context;
      scope = new CancelScope(clock, options.signal, options.deadline ?? deadline);
      content = opening.made.then((opened) => readContent(opened, stop.signal));
      return await this.#image(await this.#read(content, scope, options), scope, options);
    } catch (error) {
      if (error instanceof PodPartnerError) attachCall(error, { endpoint, timeline: [], callSite: framesOf(callSite) });
      throw withCallSite(error, callSite);
    } finally {
      scope?.close();
      stop.abort();
      opening.close();
      // The content may come after the end of the call.
      content?.then((late) => late.remove(), ignore);
    }
  }

  /** Waits for the content, at most for the timeout of an attempt. */
  #read(
    content: Promise<Content>,
    scope: CancelScope,
    { timeout = this.#context.timeout }: ImageUploadOptions,
  ): Promise<Content> {
    content.catch(ignore);
    return scope.hold(({ resolve, reject }) => {
      const stopTimer = scope.clock.after(timeout, () =>
        reject(new RequestTimeoutError({ endpoint, timeout, source: "was not read to its end" })),
      );
      content.then(resolve, reject).finally(stopTimer);
      return stopTimer;
    });
  }

  /** The image of a content: the one that is known, the one that another call is uploading, or a new one. */
  async #image(content: Content, scope: CancelScope, options: ImageUploadOptions): Promise<UploadedImage> {
    const { hash } = content;
    const store = await scope.within(this.#context.openStore());
    const images = new KnownImages(store, hash);
    const known = await scope.within(images.read());
    if (known !== undefined) return { ...known, uploaded: false };
    for (let running = this.#running.get(hash); running !== undefined; running = this.#running.get(hash)) {
      // After a failure or an abort of that call, this one uploads with its own options.
      const image = await scope.within(running.catch(ignore));
      if (image !== undefined) return { reference: image.reference, uploaded: false };
    }
    let uploaded = false;
    const upload = async () => {
      uploaded = true;
      return this.#sent(content, scope, options);
    };
    const { timeout: patience = this.#context.timeout } = options;
    const running = images.uploadBy(upload, content.unchanged, scope, patience);
    const listed = running.finally(() => this.#running.delete(hash));
    this.#running.set(hash, listed);
    const { reference } = await listed;
    return { reference, uploaded };
  }

  #sent({ blob }: Content, scope: CancelScope, options: ImageUploadOptions): Promise<PrintImage> {
    const [own, request] = splitFields(options, "onProgress", "onDownsize");
    const remaining = scope.remaining();
    const deadline = Number.isFinite(remaining) ? Math.max(1, remaining) : undefined;
    return this.#send(uploadImage, uploadInput(blob, own), { ...request, deadline }, strictly());
  }
}
