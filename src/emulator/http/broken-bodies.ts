import { setImmediate } from "node:timers/promises";
import { onAbort } from "../../util/abort-signals.ts";
import type { PartnerClock } from "../../util/clock.ts";
import { bodyTerminated, isBrokenConnection } from "../core/broken-connection.ts";

type Controller = Pick<ReadableStreamDefaultController<Uint8Array>, "enqueue" | "close">;

/** Writes a body in pieces. Returns a function that stops writing. */
type WriteBody = (controller: Controller, bytes: Uint8Array) => () => void;

/** Makes a response with the same body, written by `write`. The abort of the signal ends the body at once. */
async function rewritten(response: Response, signal: AbortSignal, write: WriteBody): Promise<Response> {
  if (response.body === null) return response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  let stop = () => {};
  let stopListening = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const close = () => {
        stopListening();
        controller.close();
      };
      stop = write({ enqueue: (piece) => controller.enqueue(piece), close }, bytes);
      stopListening = onAbort(signal, (reason) => {
        stop();
        controller.error(isBrokenConnection(reason) ? bodyTerminated() : reason);
      });
    },
    cancel: () => {
      stopListening();
      stop();
    },
  });
  return new Response(body, response);
}

const firstHalf = (bytes: Uint8Array) => bytes.subarray(0, Math.floor(bytes.length / 2));

/** Sends half of the body and leaves the connection open. */
export const stalled = (response: Response, signal: AbortSignal): Promise<Response> =>
  rewritten(response, signal, (controller, bytes) => {
    controller.enqueue(firstHalf(bytes));
    return () => {};
  });

/** Sends the body byte by byte, with `ms` milliseconds between two bytes. */
export const trickling = (
  response: Response,
  signal: AbortSignal,
  clock: PartnerClock,
  ms: number,
): Promise<Response> =>
  rewritten(response, signal, (controller, bytes) => {
    let position = 0;
    let cancel = () => {};
    const next = () => {
      if (position === bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(position, position + 1));
      position += 1;
      cancel = clock.after(ms, next);
    };
    next();
    return () => cancel();
  });

/** Sends half of the body and breaks the connection. */
export async function truncated(response: Response): Promise<Response> {
  if (response.body === null) return response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  const pieces = [firstHalf(bytes)];
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = pieces.shift();
        if (piece !== undefined) return controller.enqueue(piece);
        // Over a port, the first half must be sent before the socket is destroyed.
        await setImmediate();
        controller.error(bodyTerminated());
      },
    },
    // Do not read ahead: an error discards the pieces in the queue, so the first half would be lost.
    { highWaterMark: 0 },
  );
  return new Response(body, response);
}
