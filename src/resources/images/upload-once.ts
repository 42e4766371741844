import type { ImageSource } from "../../binary/source.ts";
import type { Send } from "../../http/call/core.ts";
import { type ImageUploadOptions, splitWatch } from "../../http/call/send-upload.ts";
import { optionFaults } from "../../http/endpoint/check-options.ts";
import { uploadImage } from "./images.endpoints.ts";
import type { PrintImage } from "./images.schema.ts";
import type { OnceUpload, OnceUploads } from "./once-uploads.ts";

/** The image of a content that is uploaded at most once. */
export interface UploadedImage extends PrintImage {
  /** Whether this call sent the content. False if the image is known from an earlier call, or from one at the same time. */
  readonly uploaded: boolean;
}

/** Uploads a content unless its image is known. The code that knows is loaded at the first use. */
export function uploadOnce(
  send: Send,
  load: () => Promise<OnceUploads>,
  source: ImageSource,
  given: ImageUploadOptions | undefined,
): Promise<UploadedImage> {
  const [watch, options] = splitWatch(given, "onProgress", "onDownsize");
  const over = new AbortController();
  let once: OnceUpload | undefined;
  const call = send(
    uploadImage,
    {
      body: source,
      faults: optionFaults(watch, "upload"),
      watch: async (upload, end) => {
        once = await (await load()).begin({ upload, watch, end, signal: over.signal });
        return once.upload;
      },
    },
    options,
    {
      strict: false,
      // The upload was opened before.
      around: async (delivery) => {
        const run = () => delivery.run();
        return once === undefined ? run() : once.image(run, (promise) => delivery.within(promise));
      },
      shape: (made, { recovered }) => ({ ...made, uploaded: !recovered }),
    },
  );
  const end = () => over.abort();
  call.then(end, end);
  return call.then((uploaded) => uploaded);
}
