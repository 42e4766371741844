import type { ImageSource } from "../../binary/source.ts";
import type { ApiCall } from "../../http/send.ts";
import { type ListOptions, type Paginator, paginate } from "../../pagination/paginator.ts";
import { type ImageUploadOptions, sendUpload } from "../upload.ts";
import type { PrintImage } from "./images.endpoints.ts";
import { listImages, uploadImage } from "./images.endpoints.ts";
import { type UploadedImage, type UploadsContext, uploadOnce } from "./upload-once.ts";

/** Uploads and lists print images (specification 2.7, 4.5). */
export class ImagesResource {
  readonly #context: UploadsContext;

  /** @internal */
  constructor(context: UploadsContext) {
    this.#context = context;
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
  upload(source: ImageSource, options?: ImageUploadOptions): ApiCall<PrintImage> {
    return sendUpload(this.#context, uploadImage, source, options, "onProgress", "onDownsize");
  }

  /**
   * Uploads a JPEG or PNG unless its content was uploaded before (specification 2.7, 4.5): the client's `storage` remembers the reference of
   * each content by its SHA-256. Calls with the same content at the same time send it once, also those of other processes with the
   * same storage. If the storage cannot be reached, the content is uploaded.
   *
   * A stream is written to a temporary file first, which is removed when the call ends. So the SDK can retry every source. `timeout`
   * limits the reading of the source, and then each attempt. A call sends one request or none, so it has no `withResponse()`.
   *
   * An image that was remembered is not checked. To upload it again in any case, use {@link ImagesResource.upload}.
   *
   * @throws `RequestValidationError` before sending, if the bytes are not a JPEG or PNG, or the source cannot be read.
   * @throws `RequestTimeoutError` if the source is not read within `timeout`, or the last attempt takes longer.
   * @example
   * const { reference, uploaded } = await partner.images.uploadOnce("design.png");
   */
  uploadOnce(source: ImageSource, options?: ImageUploadOptions): Promise<UploadedImage> {
    return uploadOnce(this.#context, source, options);
  }

  /**
   * Iterates all images, typically the newest first (specification 4.5, 4.11).
   *
   * @example
   * for await (const { reference } of partner.images.list()) console.log(reference);
   */
  list(options?: ListOptions): Paginator<PrintImage> {
    return paginate(this.#context.send, listImages, {}, options);
  }
}
