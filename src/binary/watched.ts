/** What happens at the end of a watched body. */
interface Endings {
  /** Called at the end of a complete body. The reader waits for it. */
  readonly end?: () => Promise<void>;
  /** Called when the body fails or is canceled. */
  readonly broken?: () => void;
}

/**
 * Reports each chunk of a body before the reader gets it; the reader waits for the report. The new stream does not read ahead, and fails
 * at the same moment as the body. A `TransformStream` would fail only after its waiting chunks are read.
 */
export function watched(
  body: ReadableStream<Uint8Array>,
  report: (chunk: Uint8Array) => void | Promise<void>,
  { end, broken }: Endings = {},
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        reader.closed.catch((error: unknown) => {
          controller.error(error);
          broken?.();
        });
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) {
          await end?.();
          return controller.close();
        }
        try {
          await report(value);
        } catch (error) {
          await reader.cancel(error);
          throw error;
        }
        controller.enqueue(value);
      },
      cancel(reason) {
        broken?.();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
