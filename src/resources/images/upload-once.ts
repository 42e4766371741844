import { type Content, readContent } from "../../binary/content.ts";
import type { ImageSource, Upload } from "../../binary/source.ts";
import { watchUpload } from "../../binary/upload.ts";
import { StorageError } from "../../errors/storage.ts";
import type { Call } from "../../http/call.ts";
import { noOptions, optionFaults } from "../../http/request-options.ts";
import { sendWithRetries } from "../../http/retry.ts";
import type { CallContext } from "../../http/send.ts";
import { matches } from "../../schemas/check.ts";
import type { ClientStorage } from "../../storage/client-storage.ts";
import { assertCertain, type Lock } from "../../storage/lock.ts";
import { fromJson, toJson } from "../../storage/values.ts";
import { abortController, onAbort } from "../../util/abort-signals.ts";
import { splitFields } from "../../util/fields.ts";
import { lockWithin, waitInCall } from "../once.ts";
import { type ImageUploadOptions, watchOptions } from "../upload.ts";
import { image, type PrintImage, uploadImage } from "./images.endpoints.ts";

/** Maximum milliseconds to wait for the upload of another process. */
const maxWait = 60_000;
/** A call takes the lock at most this often: a lock can expire before the upload. */
const maxTurns = 5;

/** The result of {@link ImagesResource.uploadOnce}. */
export interface UploadedImage extends PrintImage {
  /** Whether this call sent the content. False if the image is known from an earlier call, or from one at the same time. */
  readonly uploaded: boolean;
}

/** The uploads of a client that are running, by the hash of their content. */
export type RunningUploads = Map<string, Promise<PrintImage>>;

/** What uploading a content once needs of the client. */
export interface UploadsContext extends CallContext {
  readonly uploads: RunningUploads;
}

/**
 * Uploads an image unless its content was uploaded before: hashes the content, reads the storage, takes the lock, uploads, stores the
 * reference. `beforeUpload` may throw to prevent the upload.
 */
export function uploadOnce(
  { run, openStorage, uploads }: UploadsContext,
  source: ImageSource,
  given: ImageUploadOptions = noOptions,
  beforeUpload: (attempts: Call["attempts"]) => void = () => undefined,
): Promise<UploadedImage> {
  const [watch, options] = splitFields(given, "onProgress", "onDownsize");
  return run(uploadImage, options, async (call) => {
    const over = abortController();
    let content: Content | undefined;
    try {
      const input = { body: source, faults: optionFaults(watch, watchOptions) };
      const request = await call.open(input, async (upload) => {
        const read = await readContent(upload, over.signal, call.name);
        // The call may have ended by now.
        onAbort(over.signal, () => void read.remove());
        content = read;
        return read.upload;
      });
      if (content === undefined) throw new TypeError("the source was not read");
      const { hash, unchanged } = content;

      const storage = await call.within(openStorage());
      const known = await call.within(readImage(storage, hash));
      if (known !== undefined) return { ...known, uploaded: false };
      for (let other = uploads.get(hash); other !== undefined; other = uploads.get(hash)) {
        // After a failure or an abort of that call, this one uploads with its own options.
        const made = await call.within(other.catch(() => undefined));
        if (made !== undefined) return { ...made, uploaded: false };
      }

      const send = async (check?: () => void) => {
        beforeUpload(call.attempts);
        // Only a picture that is sent is inspected for `onDownsize`.
        const body = await call.within(watchUpload(request.body as Upload, watch, call));
        const { data } = await sendWithRetries(call, { ...request, body }, (arrival) => call.read(arrival), { check });
        if (await unchanged()) await storage.set(`image:${hash}`, toJson({ reference: data.reference }));
        return data;
      };
      const mine = uploadInTurn(call, storage, hash, send).finally(() => uploads.delete(hash));
      uploads.set(hash, mine);
      return { ...(await mine), uploaded: call.attempts.count > 0 };
    } finally {
      over.abort();
      // Awaited, because the process may end right after the call.
      await content?.remove();
    }
  });
}

/**
 * Uploads an image under a lock. If another process is uploading it, waits for the result for at most a minute. Two uploads do no harm,
 * because identical content has the same reference (specification 2.7).
 */
async function uploadInTurn(
  call: Call,
  storage: ClientStorage,
  hash: string,
  send: (check?: () => void) => Promise<PrintImage>,
): Promise<PrintImage> {
  for (let turn = 1; ; turn += 1) {
    const lock = await takeLock(call, storage, hash);
    const isLock = typeof lock === "object";
    const release = async () => (isLock ? lock.release() : undefined);
    try {
      // Another process may have uploaded it before this one got the lock.
      const known = await call.within(readImage(storage, hash));
      const image = known ?? (await send(() => assertCertain(lock)));
      await release();
      return image;
    } catch (error) {
      // Not awaited: an abort does not wait for the storage.
      void release();
      // The lock expired before the request: another process may have uploaded it since.
      if (!(error instanceof StorageError) || turn === maxTurns) throw error;
    }
  }
}

/**
 * Takes the lock of a content. Waits until the lock is free, another process has uploaded the content, or `maxWait` has passed. In the last
 * two cases it resolves to undefined.
 */
async function takeLock(call: Call, storage: ClientStorage, hash: string): Promise<Lock | "lost" | undefined> {
  const take = () => lockWithin(call, storage, `image-lease:${hash}`);
  const first = await take();
  if (first !== undefined) return first;
  const until = call.scope.elapsed() + maxWait;
  const attempt = async () => {
    const lock = await take();
    const isOver = lock !== undefined || call.scope.elapsed() >= until;
    return isOver || (await call.within(readImage(storage, hash))) !== undefined ? { lock } : undefined;
  };
  return (await waitInCall(call, attempt, undefined)).lock;
}

/** Resolves to the image with this content; undefined if it is not known. */
async function readImage(storage: ClientStorage, hash: string): Promise<PrintImage | undefined> {
  const found = fromJson(await storage.get(`image:${hash}`));
  return matches(image, found) ? { reference: found.reference } : undefined;
}
