import type { Download } from "../../binary/download.ts";
import type { ImageSource } from "../../binary/source.ts";
import { binary, endpoint, field, type ResponseShape } from "../../http/endpoint.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, CallContext } from "../../http/send.ts";
import type { EvidenceReference } from "../../references/references.ts";
import { open, reference } from "../../schemas/shape.ts";
import { sendUpload, type UploadOptions } from "../upload.ts";

/** A photo for a claim (specification 2.7). The service deletes it after a day if no claim uses it. */
export interface Evidence {
  readonly reference: EvidenceReference;
}
const evidence = () => open<Evidence>({ reference: reference("Evidence") });

/** A retry does no harm: the service deletes an unused copy after a day (specification 2.7). */
export const uploadEvidence = endpoint<"/evidence", Evidence, ImageSource>({
  call: "evidence.upload",
  method: "POST",
  path: "/evidence",
  request: { kind: "image" },
  response: field("evidence", evidence),
  policies: ["default", "uploads"],
  repeat: "idempotent",
});

/** Uses a URL from a claim, because the specification does not show the path. Requests for evidence are never conditional. */
export const downloadEvidence = endpoint<string, Download>({
  call: "evidence.download",
  method: "GET",
  path: "{evidenceUrl}",
  response: binary as ResponseShape<Download>,
  repeat: "safe",
});

/** Uploads and downloads photos of claims (specification 2.7, 2.8, 4.5). */
export class EvidenceResource {
  readonly #context: CallContext;

  /** @internal */
  constructor(context: CallContext) {
    this.#context = context;
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
    return sendUpload(this.#context, uploadEvidence, source, options, "onProgress");
  }

  /**
   * Downloads a photo of a claim by one of its `evidenceUrls` (specification 2.8). The URL must have the origin of the base URL, because
   * the request carries the secret key. The service deletes the photos of a claim about four months after its end.
   *
   * @throws `RequestValidationError` before sending, if the URL has another origin. Request such a URL without the key: `fetch(url)`.
   * @throws `NotFoundError` or `GoneError` if the photo was deleted.
   * @example
   * const { claimlines } = await partner.claims.get(claimReference);
   * for (const url of claimlines.flatMap(({ evidenceUrls }) => evidenceUrls)) {
   *   const photo = await partner.evidence.download(url);
   *   console.log(photo.contentType, (await photo.bytes()).length);
   * }
   */
  download(url: string | URL, options?: RequestOptions): ApiCall<Download> {
    return this.#context.send(downloadEvidence, { url }, options);
  }
}
