/** Follows a body while the caller reads it. */
export interface BodyWatcher {
  /** Called with each chunk before the reader gets it. The reader waits for it. If it throws, the body ends with its error. */
  add(chunk: Uint8Array): void | Promise<void>;
  /** Called at the end of a complete body. The reader waits for it. */
  finish?(): Promise<void>;
  /** Called when the body fails or is canceled. */
  abandon?(): void;
}

/**
 * Makes a stream of a body that a watcher follows. It does not read ahead, and fails at the same moment as the body. A `TransformStream`
 * would fail only after its waiting chunks are read.
 */
export function watched(body: ReadableStream<Uint8Array>, watcher: BodyWatcher): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        reader.closed.catch((error: unknown) => {
          controller.error(error);
          watcher.abandon?.();
        });
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) {
          await watcher.finish?.();
          return controller.close();
        }
        try {
          await watcher.add(value);
        } catch (error) {
          await reader.cancel(error);
          throw error;
        }
        controller.enqueue(value);
      },
      cancel(reason) {
        watcher.abandon?.();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
