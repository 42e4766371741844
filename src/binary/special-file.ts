import type { FileHandle } from "node:fs/promises";
import { systemClock } from "../util/clock.ts";
import { propertyOf } from "../util/foreign.ts";

/** Milliseconds between two tries; they double from one to the other. */
const pauses = { first: 1, longest: 32 };

/**
 * Waits for something that cannot be waited for otherwise, by trying. A pipe that is opened or written in the usual way blocks a thread of
 * the process until somebody reads, and nothing can call that back.
 */
class Patience {
  #over: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;

  /** Ends the waiting, once and for all. */
  end(error: unknown): void {
    this.#over = { error };
    this.#wake();
  }

  /** Tries until it works; `until` names the codes that tell to try again. */
  async try<T>(work: () => Promise<T>, until: ReadonlySet<unknown>): Promise<T> {
    for (let pause = pauses.first; ; pause = Math.min(pause * 2, pauses.longest)) {
      if (this.#over !== undefined) throw this.#over.error;
      try {
        return await work();
      } catch (error) {
        if (!until.has(propertyOf(error, "code"))) throw error;
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

/** Nobody reads the pipe yet. */
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
 * Writes a body into what is there and is no file, such as a pipe or a device. However long that takes, it ends when the body fails: at an
 * abort, a timeout or a deadline.
 */
export async function saveInto(path: string, body: ReadableStream<Uint8Array>, isPipe: boolean): Promise<void> {
  const { constants, open } = await import("node:fs/promises");
  const patience = new Patience();
  const reader = body.getReader();
  reader.closed.catch((error: unknown) => patience.end(error));
  try {
    // A socket without a listener says the same as a pipe without a reader, and stays as it is.
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
