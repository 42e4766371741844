import * as z from "zod/mini";
import type { ImageSource } from "../binary/source.ts";
import { type UploadWatch, watchUpload } from "../binary/upload.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { custom, optionFaults, type RequestOptions } from "../http/request-options.ts";
import { sendWithRetries } from "../http/retry.ts";
import type { ApiCall, Start } from "../http/send.ts";
import type { Schema } from "../schemas/shape.ts";
import { splitFields } from "../util/fields.ts";
import { attempt, isFunction, isObject } from "../util/foreign.ts";

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

/** The functions that observe an upload. */
export const watchOptions: Schema = () =>
  z.strictObject({
    onProgress: custom(isFunction, "expected a function"),
    onDownsize: custom(isFunction, "expected a function"),
  });

/** Splits the options of an upload into the functions that observe it, and the rest. */
export function splitWatch(
  given: ImageUploadOptions | undefined,
  ...names: readonly (keyof UploadWatch)[]
): readonly [watch: UploadWatch, options: RequestOptions | undefined] {
  // Any other value stays as it is: the check of the options describes it.
  return attempt(() => isObject(given) && names.some((name) => name in given)) && given !== undefined
    ? splitFields(given, ...names)
    : [{}, given];
}

/** Sends an upload, which `own` observes. */
export const sendUpload = <Data>(
  start: Start,
  endpoint: Endpoint<{ readonly body: ImageSource }, Data>,
  source: ImageSource,
  own: UploadWatch,
  options: RequestOptions | undefined,
): ApiCall<Data> =>
  start(endpoint, options, async (call) => {
    const end = (reason: unknown) => call.scope.end(reason);
    const input = { body: source, faults: optionFaults(own, watchOptions) };
    const request = await call.open(input, (upload) => watchUpload(upload, own, { endpoint: call.name, end }));
    return sendWithRetries(call, request, (arrival) => call.read(arrival));
  });
