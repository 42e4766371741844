import * as z from "zod/mini";
import type { ImageSource } from "../binary/source.ts";
import { type UploadWatch, watchUpload } from "../binary/upload.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { custom, noOptions, optionFaults, type RequestOptions } from "../http/request-options.ts";
import { sendWithRetries } from "../http/retry.ts";
import type { ApiCall, CallContext } from "../http/send.ts";
import type { Schema } from "../schemas/shape.ts";
import { splitFields } from "../util/fields.ts";
import { isFunction } from "../util/foreign.ts";

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

/** Checks the functions that observe an upload. */
export const watchOptions: Schema = () =>
  z.strictObject({
    onProgress: custom(isFunction, "expected a function"),
    onDownsize: custom(isFunction, "expected a function"),
  });

/** Sends an upload. `names` are the functions that may observe it. */
export function sendUpload<Data>(
  { start }: CallContext,
  endpoint: Endpoint<{ readonly body: ImageSource }, Data>,
  source: ImageSource,
  given: ImageUploadOptions = noOptions,
  ...names: readonly (keyof UploadWatch)[]
): ApiCall<Data> {
  const [watch, options] = splitFields(given, ...names);
  return start(endpoint, options, async (call) => {
    const input = { body: source, faults: optionFaults(watch, watchOptions) };
    const request = await call.open(input, (upload) => watchUpload(upload, watch, call));
    return sendWithRetries(call, request, (arrival) => call.read(arrival));
  });
}
