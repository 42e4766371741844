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

/** The input of an upload. The code that observes it is loaded only for an upload that is observed. */
export function uploadInput(
  source: ImageSource,
  own: UploadWatch,
): Pick<EndpointInput, "faults" | "watch"> & { readonly body: ImageSource } {
  if (own.onProgress === undefined && own.onDownsize === undefined) return { body: source };
  return {
    body: source,
    faults: optionFaults(own, "upload"),
    watch: async (upload, end) => (await import("../../binary/watch-upload.ts")).watchUpload(upload, own, end),
  };
}

/** Sends an upload. `names` are the functions that its options can have. */
export function sendUpload<Data>(
  send: Send,
  endpoint: Endpoint<{ readonly body: ImageSource }, Data>,
  source: ImageSource,
  given: ImageUploadOptions | undefined,
  ...names: readonly (keyof UploadWatch)[]
): ApiCall<Data> {
  // Any other value stays as it is: the check of the options describes it.
  if (!isObject(given) || !names.some((name) => name in given)) return send(endpoint, { body: source }, given);
  const [own, options] = splitFields(given, ...names);
  return send(endpoint, uploadInput(source, own), options);
}
