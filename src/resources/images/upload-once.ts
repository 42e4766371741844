import { type Content, readContent } from "../../binary/content.ts";
import type { ImageSource, Upload } from "../../binary/source.ts";
import { type UploadWatch, watchUpload } from "../../binary/upload.ts";
import type { Call } from "../../http/call.ts";
import { optionFaults } from "../../http/request-options.ts";
import { sendWithRetries } from "../../http/retry.ts";
import { type ImageUploadOptions, splitWatch } from "../../http/upload.ts";
import { check } from "../../schemas/check.ts";
import { onAbort } from "../../util/abort-signals.ts";
import type { CallContext } from "../../waiting/call-context.ts";
import { image, type PrintImage, uploadImage } from "./images.endpoints.ts";
import { KnownImages } from "./known-images.ts";

/** The image of a content that is uploaded at most once. */
export interface UploadedImage extends PrintImage {
  /** Whether this call sent the content. False if the image is known from an earlier call, or from one at the same time. */
  readonly uploaded: boolean;
}

/** The uploads of a client that are running, by the hash of their content. */
export type RunningUploads = Map<string, Promise<PrintImage>>;

const isImage = (value: unknown): value is PrintImage => check(image, value, []).ok;

/** Uploads a content unless its image is known: hash, look at the storage, take the lock, upload, store. */
export function uploadOnce(
  context: CallContext,
  running: RunningUploads,
  source: ImageSource,
  given: ImageUploadOptions | undefined,
): Promise<UploadedImage> {
  const [watch, options] = splitWatch(given, "onProgress", "onDownsize");
  return context.run(uploadImage, options, async (call) => {
    const over = new AbortController();
    let content: Content | undefined;
    try {
      const input = { body: source, faults: optionFaults(watch, "upload") };
      const request = await call.open(input, async (upload) => {
        const read = await readContent(upload, over.signal, call.name);
        // The call may have ended meanwhile.
        onAbort(over.signal, () => void read.remove());
        content = read;
        return read.upload;
      });
      if (content === undefined) throw new TypeError("the source was not read");
      const { hash, unchanged } = content;

      const images = new KnownImages(await call.within(context.openStorage()), hash, isImage, context.clock);
      const known = await call.within(images.read());
      if (known !== undefined) return { ...known, uploaded: false };
      for (let other = running.get(hash); other !== undefined; other = running.get(hash)) {
        // After a failure or an abort of that call, this one uploads with its own options.
        const made = await call.within(other.catch(() => undefined));
        if (made !== undefined) return { ...made, uploaded: false };
      }

      const upload = async (): Promise<UploadedImage> => {
        const { image: other, release } = await images.waitForTurn((promise) => call.within(promise));
        if (other !== undefined) return { ...other, uploaded: false };
        try {
          const body = await observed(call, request.body as Upload, watch);
          const { data } = await sendWithRetries(call, { ...request, body }, (arrival) => call.read(arrival));
          if (await unchanged()) await images.write(data);
          await release();
          return { ...data, uploaded: true };
        } catch (error) {
          // An abort does not wait for the store.
          void release();
          throw error;
        }
      };
      const mine = upload().finally(() => running.delete(hash));
      running.set(hash, mine);
      return await mine;
    } finally {
      over.abort();
      // The process may be killed right after the call.
      await content?.remove();
    }
  });
}

/** Inspects the picture that will be sent, and observes its bytes. A picture that is not sent is not inspected. */
function observed(call: Call<never, unknown>, upload: Upload, watch: UploadWatch): Promise<Upload> {
  return call.within(watchUpload(upload, watch, { endpoint: call.name, end: (reason) => call.scope.end(reason) }));
}
