import type { ImageSource } from "../../binary/source.ts";
import type { ApiCall } from "../../http/call/call.ts";
import type { Send } from "../../http/call/core.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import { paginate } from "../../pagination/paginate.ts";
import type { ListOptions, Paginator } from "../../pagination/paginator.ts";
import { listImages, uploadImage } from "./images.endpoints.ts";
import type { PrintImage } from "./images.schema.ts";

/** Print images (specification 2.7, 4.5). */
export class ImagesResource {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Uploads a JPEG or PNG in bounded memory (specification 4.5). The same content gives the same reference; more than 7000 × 7000
   * pixels are made smaller by the service. Draws from the `uploads` bucket.
   *
   * A path, bytes or a blob can be sent again when an attempt fails; a stream is sent once.
   *
   * @throws `RequestValidationError` before sending when the bytes are no JPEG or PNG, or the file cannot be read.
   * @example
   * const { reference } = await partner.images.upload("design.png");
   */
  upload(source: ImageSource, options?: RequestOptions): ApiCall<PrintImage> {
    return this.#send(uploadImage, { body: source }, options);
  }

  /** Iterates all images, typically the newest first (specification 4.5, 4.11). */
  list(options?: ListOptions): Paginator<PrintImage> {
    return paginate(this.#send, listImages, {}, options);
  }
}
