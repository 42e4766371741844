import type { FileHandle } from "node:fs/promises";
import { systemClock } from "../util/clock.ts";
import { propertyOf } from "../util/foreign.ts";

/** Milliseconds between two attempts; they double up to the longest. */
const pauses = { first: 1, longest: 32 };

/**
 * Tries again until an operation works. A blocking `open` or `write` of a pipe would occupy a thread of the process until another
 * process reads, and cannot be cancelled.
 */
class Patience {
  #over: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;

  /** Ends all waiting with an error. */
  end(error: unknown): void {
    this.#over = { error };
    this.#wake();
  }

  /** Tries until it works; `again` has the error codes that mean: not yet. */
  async try<T>(work: () => Promise<T>, again: ReadonlySet<unknown>): Promise<T> {
    for (let pause = pauses.first; ; pause = Math.min(pause * 2, pauses.longest)) {
      if (this.#over !== undefined) throw this.#over.error;
      try {
        return await work();
      } catch (error) {
        if (!again.has(propertyOf(error, "code"))) throw error;
      }
      await this.#sleep(pause);
    }
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#over !== undefined) return;
    await new Promise<void>((resolve) => {
      const cancel = systemClock.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }
}

/** The pipe has no reader yet. */
const unread: ReadonlySet<unknown> = new Set(["ENXIO"]);
/** The pipe is full. */
const full: ReadonlySet<unknown> = new Set(["EAGAIN", "EWOULDBLOCK"]);

async function writeAll(file: FileHandle, chunk: Uint8Array, patience: Patience): Promise<void> {
  for (let offset = 0; offset < chunk.byteLength; ) {
    const { bytesWritten } = await patience.try(() => file.write(chunk, offset), full);
    offset += bytesWritten;
  }
}

/**
 * Writes a body into a pipe or a device. It ends when the body fails, also while it waits for a reader: at an abort, a timeout or a
 * deadline.
 */
export async function saveInto(path: string, body: ReadableStream<Uint8Array>, isPipe: boolean): Promise<void> {
  const { constants, open } = await import("node:fs/promises");
  const patience = new Patience();
  const reader = body.getReader();
  reader.closed.catch((error: unknown) => patience.end(error));
  try {
    // A Unix socket gives ENXIO, too; it never becomes writable this way.
    const flags = constants.O_WRONLY | (constants.O_NONBLOCK ?? 0);
    const file = await patience.try(() => open(path, flags), isPipe ? unread : new Set());
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        await writeAll(file, next.value, patience);
      }
    } finally {
      await file.close();
    }
  } finally {
    reader.releaseLock();
  }
}
