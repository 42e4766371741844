import { PodPartnerError } from "../errors/base.ts";
import { RequestValidationError } from "../errors/validation.ts";
import { onAbort, throwIfAborted } from "../util/abort-signals.ts";
import { hexOf, sha256 } from "../util/digest.ts";
import { attempt, wordsOf } from "../util/foreign.ts";
import { isBlob, isWebStream } from "../util/kinds.ts";
import { builtIn, fileModules, webCrypto } from "../util/runtime.ts";
import type { Upload } from "./source.ts";
import { concatenate, streamOfBytes } from "./streams.ts";
import { fileChanged } from "./upload.ts";

/** The content of an upload, which can be sent any number of times, with its hash. */
export interface Content {
  /** SHA-256 in hexadecimal. */
  readonly hash: string;
  readonly upload: Upload;
  /** Whether the upload still has the bytes that were hashed. */
  unchanged(): Promise<boolean>;
  /** Removes the temporary file. Always call it. */
  remove(): Promise<void>;
}

/** Maximum bytes in memory on a runtime without a streaming hash or a file system. */
const maxBytesInMemory = 33_554_432;

const tooLarge = `the content has more than ${maxBytesInMemory} bytes, and this runtime cannot hash it in pieces or keep it in a file: use \`images.upload\``;

/**
 * Reads and hashes the content of an upload in bounded memory. A stream is also written to a temporary file. Bytes are copied, because the
 * caller may change them before they are sent. An abort ends the reading at once.
 */
export async function readContent(upload: Upload, signal: AbortSignal, endpoint: string): Promise<Content> {
  const body = upload.body();
  try {
    if (isWebStream(body)) return await readStream(body, signal);
    const kept = isBlob(body) ? body : new Uint8Array(body);
    const hash = await hashOf(isBlob(kept) ? kept.stream() : streamOfBytes(kept), signal);
    return {
      hash,
      upload: { ...upload, body: () => kept },
      unchanged: async () => !isBlob(kept) || isReadable(kept),
      remove: async () => undefined,
    };
  } catch (error) {
    if (upload.path !== undefined) throw fileChanged(upload.path, endpoint);
    if (error instanceof PodPartnerError) throw error;
    const message = `the source cannot be read: ${wordsOf(error)}`;
    throw new RequestValidationError({ issues: [{ path: [], message }], endpoint });
  }
}

async function readStream(stream: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<Content> {
  const spool = await openSpool();
  try {
    const hash = await hashOf(stream, signal, (chunk) => spool.write(chunk));
    const kept = await spool.finish();
    return {
      hash,
      upload: { replayable: true, body: () => kept },
      unchanged: async () => true,
      remove: spool.remove,
    };
  } catch (error) {
    await spool.remove();
    throw error;
  }
}

/** Whether a blob can still be read. The platform refuses the blob of a file whose size or modification time has changed. */
const isReadable = (blob: Blob): Promise<boolean> =>
  blob
    .slice(0, 1)
    .arrayBuffer()
    .then(
      ({ byteLength }) => byteLength === 1,
      () => false,
    );

/** The SHA-256 of a stream in hexadecimal. `take` also gets each chunk. */
async function hashOf(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  take?: (chunk: Uint8Array) => void | Promise<void>,
): Promise<string> {
  const digest = createDigest();
  const reader = stream.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  const stopListening = onAbort(signal, cancel);
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      digest.add(next.value);
      await take?.(next.value);
    }
    throwIfAborted(signal);
    return await digest.hex();
  } catch (error) {
    cancel();
    throw error;
  } finally {
    stopListening();
  }
}

/** Starts a hash. A runtime without `node:crypto` keeps the bytes in memory, because `crypto.subtle` cannot hash in pieces. */
function createDigest(): { add(chunk: Uint8Array): void; hex(): Promise<string> } {
  const hash = builtIn("node:crypto")?.createHash("sha256");
  if (hash !== undefined) return { add: (chunk) => void hash.update(chunk), hex: async () => hash.digest("hex") };
  const kept = keptInMemory();
  return { add: kept.write, hex: async () => hexOf(await sha256(await kept.finish())) };
}

/** Keeps the bytes of a stream until they are sent. */
interface Spool<Kept = Blob | Uint8Array<ArrayBuffer>> {
  write(chunk: Uint8Array): void | Promise<void>;
  /** Ends the writing. The result can be read until the spool is removed. */
  finish(): Promise<Kept>;
  /** Removes the bytes. Always call it. */
  remove(): Promise<void>;
}

function keptInMemory(): Spool<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  return {
    write: (chunk) => {
      length += chunk.byteLength;
      if (length > maxBytesInMemory) throw new RangeError(tooLarge);
      chunks.push(chunk.slice());
    },
    finish: async () => concatenate(chunks),
    remove: async () => undefined,
  };
}

/** The temporary files of this process, which are removed when it exits. */
const temporaryFiles = new Set<string>();

function removeAll(): void {
  // An error here would hide why the process exits.
  for (const path of temporaryFiles) attempt(() => builtIn("node:fs")?.rmSync(path, { force: true }));
}

function remember(path: string): void {
  if (temporaryFiles.size === 0) globalThis.process.once("exit", removeAll);
  temporaryFiles.add(path);
}

function forget(path: string): void {
  if (temporaryFiles.delete(path) && temporaryFiles.size === 0) globalThis.process.off("exit", removeAll);
}

/** Opens a temporary file that only this user can read, or memory on a runtime without a file system. */
async function openSpool(): Promise<Spool> {
  const [fs, os] = [builtIn("node:fs"), builtIn("node:os")];
  // The file system of Workers lacks `openAsBlob`.
  if (typeof fs?.openAsBlob !== "function" || os === undefined) return keptInMemory();
  const { openAsBlob, promises } = fs;
  const path = fileModules().path.join(os.tmpdir(), `pod-partner-${webCrypto().randomUUID()}.upload`);
  remember(path);
  const file = await promises.open(path, "wx", 0o600).catch((error: unknown) => {
    forget(path);
    throw new Error(`it cannot be kept in a temporary file: ${wordsOf(error)}`);
  });
  return {
    write: (chunk) => file.writeFile(chunk),
    finish: async () => {
      await file.close();
      return openAsBlob(path);
    },
    remove: async () => {
      // It may be closed already.
      await file.close().catch(() => undefined);
      await promises.rm(path, { force: true }).catch(() => undefined);
      forget(path);
    },
  };
}
