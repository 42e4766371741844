import { setImmediate } from "node:timers/promises";
import type { PartnerClock } from "../../util/clock.ts";
import { bodyTerminated } from "./broken-connection.ts";

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** Gives a body its pieces in its own time; what it gives back ends that. */
type Pour = (controller: Controller, bytes: Uint8Array) => () => void;

/** The answer with its body poured in another way, which ends at once when the request is aborted. */
async function poured(response: Response, signal: AbortSignal, pour: Pour): Promise<Response> {
  if (response.body === null) return response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  let stop = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      stop = pour(controller, bytes);
      const end = () => {
        stop();
        controller.error(signal.reason);
      };
      if (signal.aborted) end();
      else signal.addEventListener("abort", end, { once: true });
    },
    cancel: () => stop(),
  });
  return new Response(body, response);
}

const firstHalf = (bytes: Uint8Array) => bytes.subarray(0, Math.floor(bytes.length / 2));

/** Half of the body, and then nothing. */
export const stalled = (response: Response, signal: AbortSignal): Promise<Response> =>
  poured(response, signal, (controller, bytes) => {
    controller.enqueue(firstHalf(bytes));
    return () => {};
  });

/** The body byte by byte. */
export const trickling = (
  response: Response,
  signal: AbortSignal,
  clock: PartnerClock,
  ms: number,
): Promise<Response> =>
  poured(response, signal, (controller, bytes) => {
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

/** Half of the body, and then the end of the connection. */
export async function truncated(response: Response): Promise<Response> {
  if (response.body === null) return response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  const pieces = [firstHalf(bytes)];
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = pieces.shift();
        if (piece !== undefined) return controller.enqueue(piece);
        // Over a port, the first half shall have left before the socket is destroyed.
        await setImmediate();
        controller.error(bodyTerminated());
      },
    },
    // Nothing is read ahead: an error that came before the first half was taken would swallow it.
    { highWaterMark: 0 },
  );
  return new Response(body, response);
}
