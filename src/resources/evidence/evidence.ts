import type { ImageSource } from "../../binary/source.ts";
import type { ApiCall, Start } from "../../http/send.ts";
import { sendUpload, splitWatch, type UploadOptions } from "../../http/upload.ts";
import { uploadEvidence } from "./evidence.endpoints.ts";
import type { Evidence } from "./evidence.schema.ts";

/** Uploads photos for claims (specification 2.7, 4.5). */
export class EvidenceResource {
  readonly #start: Start;

  /** @internal */
  constructor(start: Start) {
    this.#start = start;
  }

  /**
   * Uploads a JPEG or PNG photo for a claim (specification 4.5). The service deletes the photo after a day if no claim uses it. Takes
   * one token of the `uploads` limit.
   *
   * If an attempt fails, the SDK can retry a path, bytes or a blob, but not a stream.
   *
   * @throws `RequestValidationError` before sending, if the bytes are not a JPEG or PNG, or the file cannot be read.
   * @example
   * const photo = await partner.evidence.upload("scratch.jpg");
   * const evidenceReferences = [photo.reference]; // for a claim or a claimline
   */
  upload(source: ImageSource, options?: UploadOptions): ApiCall<Evidence> {
    return sendUpload(this.#start, uploadEvidence, source, ...splitWatch(options, "onProgress"));
  }
}
