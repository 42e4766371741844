import type { FileHandle } from "node:fs/promises";
import { systemClock } from "../util/clock.ts";
import { propertyOf } from "../util/foreign.ts";

/** Milliseconds between two attempts. The pause doubles after each attempt, up to `longest`. */
const pauses = { first: 1, longest: 32 };

/**
 * Repeats a non-blocking operation until it succeeds. A blocking `open` or `write` of a pipe would occupy a thread until another
 * process reads the pipe, and could not be canceled.
 */
class Patience {
  #over: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;

  /** Ends all waits with an error. */
  end(error: unknown): void {
    this.#over = { error };
    this.#wake();
  }

  /** Runs `work` until it succeeds. The error codes in `again` lead to another attempt; any other error is thrown. */
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
 * Writes a body into a pipe or a device. It stops when the body fails (abort, timeout or deadline), also while the pipe has no
 * reader.
 */
export async function saveInto(path: string, body: ReadableStream<Uint8Array>, isPipe: boolean): Promise<void> {
  const { constants, open } = await import("node:fs/promises");
  const patience = new Patience();
  const reader = body.getReader();
  reader.closed.catch((error: unknown) => patience.end(error));
  try {
    // A Unix socket also fails with ENXIO, but never becomes writable, so only a pipe is retried.
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
