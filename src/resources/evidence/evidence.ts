import type { ImageSource } from "../../binary/source.ts";
import type { ApiCall } from "../../http/call/call.ts";
import type { Send } from "../../http/call/core.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import { uploadEvidence } from "./evidence.endpoints.ts";
import type { Evidence } from "./evidence.schema.ts";

/** Photos for claims (specification 2.7, 4.5). */
export class EvidenceResource {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Uploads a JPEG or PNG for a claim (specification 4.5). It is deleted after a day when no claim uses it. Draws from the
   * `uploads` bucket.
   *
   * A path, bytes or a blob can be sent again when an attempt fails; a stream is sent once.
   *
   * @throws `RequestValidationError` before sending when the bytes are no JPEG or PNG, or the file cannot be read.
   * @example
   * const photo = await partner.evidence.upload("scratch.jpg");
   * const evidenceReferences = [photo.reference]; // for a claim, or one of its lines
   */
  upload(source: ImageSource, options?: RequestOptions): ApiCall<Evidence> {
    return this.#send(uploadEvidence, { body: source }, options);
  }
}
