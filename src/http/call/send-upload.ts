import type { ImageSource } from "../../binary/source.ts";
import type { UploadWatch } from "../../binary/upload-watch.ts";
import { isObject } from "../../schemas/type-guards.ts";
import { splitFields } from "../../util/split-fields.ts";
import { optionFaults } from "../endpoint/check-options.ts";
import type { Endpoint, EndpointInput } from "../endpoint/endpoint.ts";
import type { RequestOptions } from "../endpoint/request-options.ts";
import type { ApiCall } from "./call.ts";
import type { Send } from "./core.ts";

/** Options of an upload. */
export interface UploadOptions extends RequestOptions {
  /**
   * Is called for each chunk that is handed to the network. A retry begins again with its first chunk. An error that the function throws
   * ends the call.
   */
  readonly onProgress?: UploadWatch["onProgress"];
}

/** Options of {@link ImagesResource.upload} and {@link ImagesResource.uploadOnce}. */
export interface ImageUploadOptions extends UploadOptions {
  /**
   * Is called before a picture is sent that is wider or higher than 7000 pixels: the service downsizes it (specification 2.7). A picture
   * whose header cannot be read is sent without a report. An error that the function throws ends the call.
   */
  readonly onDownsize?: UploadWatch["onDownsize"];
}

/** Splits the options of an upload into the functions that observe it, and the rest. */
export function splitWatch(
  given: ImageUploadOptions | undefined,
  ...names: readonly (keyof UploadWatch)[]
): readonly [watch: UploadWatch, options: RequestOptions | undefined] {
  // Any other value stays as it is: the check of the options describes it.
  return isObject(given) && names.some((name) => name in given) ? splitFields(given, ...names) : [{}, given];
}

/** Sends an upload. The code that observes it is loaded only for an upload that is observed. */
export function sendUpload<Data>(
  send: Send,
  endpoint: Endpoint<{ readonly body: ImageSource }, Data>,
  source: ImageSource,
  own: UploadWatch,
  options: RequestOptions | undefined,
): ApiCall<Data> {
  if (own.onProgress === undefined && own.onDownsize === undefined) return send(endpoint, { body: source }, options);
  const input: EndpointInput & { readonly body: ImageSource } = {
    body: source,
    faults: optionFaults(own, "upload"),
    watch: async (upload, end) => (await import("../../binary/watch-upload.ts")).watchUpload(upload, own, end),
  };
  return send(endpoint, input, options);
}
