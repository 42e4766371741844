import { inspected } from "./picture-size.ts";
import type { Upload } from "./source.ts";
import type { EndCall, UploadProgress, UploadWatch } from "./upload-watch.ts";

/** Calls a function of the caller. If it throws, the call ends with that error. */
function notify<Given>(report: (given: Given) => void, given: Given, end: EndCall): void {
  try {
    report(given);
  } catch (error) {
    end(error);
    throw error;
  }
}

/** The bytes of a report at most: the stream of a blob can give all of its bytes as one chunk. */
const most = 65_536;

/** Reports the bytes of a stream piece by piece when they are read. */
function observed(
  body: ReadableStream<Uint8Array>,
  size: number | undefined,
  report: (progress: UploadProgress) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let rest: Uint8Array = new Uint8Array();
  let sent = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (rest.byteLength === 0) {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          rest = value;
        }
        const piece = rest.subarray(0, most);
        rest = rest.subarray(most);
        sent += piece.byteLength;
        try {
          report({ sent, size });
        } catch (error) {
          await reader.cancel(error);
          throw error;
        }
        controller.enqueue(piece);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Reports the bytes of each attempt when the network takes them. */
function reporting(upload: Upload, report: (progress: UploadProgress) => void): Upload {
  return {
    replayable: upload.replayable,
    body: () => {
      const body = upload.body();
      if (body instanceof ReadableStream) return observed(body, undefined, report);
      const blob = body instanceof Blob ? body : new Blob([body]);
      const stream = () => observed(blob.stream(), blob.size, report);
      // The `fetch` of Bun does not call `stream` of a blob.
      if (globalThis.process?.versions?.bun !== undefined) return stream();
      // A blob keeps the exact `Content-Length`; a stream would be sent in chunks, without a length.
      return Object.defineProperty(blob.slice(), "stream", { value: stream });
    },
  };
}

/** Inspects the picture of an upload, and observes the bytes that are sent. */
export async function watchUpload(
  upload: Upload,
  { onProgress, onDownsize }: UploadWatch,
  end: EndCall,
): Promise<Upload> {
  let seen = upload;
  if (onDownsize !== undefined) {
    seen = await inspected(upload, (size) => notify(onDownsize, size, end));
  }
  return onProgress === undefined ? seen : reporting(seen, (progress) => notify(onProgress, progress, end));
}
