/**
 * Reports each chunk of a body. The new stream fails at the same moment as the body. A `TransformStream` would fail only after its
 * waiting chunks are read.
 */
export function watched(
  body: ReadableStream<Uint8Array>,
  report: (chunk: Uint8Array) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => void reader.closed.catch((error: unknown) => controller.error(error)),
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        try {
          report(value);
        } catch (error) {
          await reader.cancel(error);
          throw error;
        }
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
