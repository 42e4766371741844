import type { ImageSource } from "../../binary/source.ts";
import type { ApiCall } from "../../http/call/call.ts";
import type { Send } from "../../http/call/core.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import { paginate } from "../../pagination/paginate.ts";
import type { ListOptions, Paginator } from "../../pagination/paginator.ts";
import { listImages, uploadImage } from "./images.endpoints.ts";
import type { PrintImage } from "./images.schema.ts";

/** Uploads and lists print images (specification 2.7, 4.5). */
export class ImagesResource {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Uploads a JPEG or PNG in bounded memory (specification 4.5). Identical content returns the same reference. The service downsizes
   * images larger than 7000 × 7000 pixels. Takes one token of the `uploads` limit.
   *
   * If an attempt fails, the SDK can retry a path, bytes or a blob, but not a stream.
   *
   * @throws `RequestValidationError` before sending, if the bytes are not a JPEG or PNG, or the file cannot be read.
   * @example
   * const { reference } = await partner.images.upload("design.png");
   */
  upload(source: ImageSource, options?: RequestOptions): ApiCall<PrintImage> {
    return this.#send(uploadImage, { body: source }, options);
  }

  /**
   * Iterates all images, typically the newest first (specification 4.5, 4.11).
   *
   * @example
   * for await (const { reference } of partner.images.list()) console.log(reference);
   */
  list(options?: ListOptions): Paginator<PrintImage> {
    return paginate(this.#send, listImages, {}, options);
  }
}
