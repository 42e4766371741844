/** What happens to the body of a response: its pieces, then one of `close`, `cancel` and `error`. */
export interface BodyListener {
  piece(piece: Uint8Array): void;
  close(): void;
  /** The reader does not want the rest. */
  cancel(): void;
  error(error: unknown): void;
}

/** Returns the same response with a body that reports each piece when it is read. It reads nothing ahead. */
export function watched(response: Response, listener: BodyListener): Response {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let isCanceled = false;

  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    try {
      const { done, value } = await reader.read();
      // A cancel ends the pending read.
      if (isCanceled) return;
      if (!done) {
        listener.piece(value);
        return controller.enqueue(value);
      }
      listener.close();
      controller.close();
    } catch (error) {
      if (isCanceled) return;
      listener.error(error);
      controller.error(error);
    }
  };
  const cancel = (reason: unknown) => {
    isCanceled = true;
    listener.cancel();
    return reader.cancel(reason);
  };
  return new Response(new ReadableStream({ pull, cancel }, { highWaterMark: 0 }), response);
}
