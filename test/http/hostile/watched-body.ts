import type { PartnerClock } from "../../../src/util/clock.ts";
import type { Pieces } from "./case.ts";

const whole: Pieces = { size: 16_384, pause: 0, end: "close" };

/** The body of a response that arrives in pieces, and its state at the end of a case. */
export class WatchedBody {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #bytes: Uint8Array;
  readonly #pieces: Pieces;
  readonly #clock: PartnerClock;
  /** The number of bytes after which the body ends. */
  readonly #last: number;
  #open = true;
  #delivered = 0;
  #stopWaiting: () => void = () => undefined;

  /** @param signal Its abort ends the body. A `fetch` that ignores its signal passes none. */
  constructor(bytes: Uint8Array, pieces: Pieces | undefined, clock: PartnerClock, signal: AbortSignal | undefined) {
    this.#bytes = bytes;
    this.#pieces = pieces ?? whole;
    this.#clock = clock;
    const { after, size } = this.#pieces;
    this.#last = Math.min(bytes.length, after === undefined ? bytes.length : after * size);
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const abort = () => this.#open && this.#fail(controller, signal?.reason);
          signal?.addEventListener("abort", abort, { once: true });
        },
        pull: (controller) => this.#pull(controller),
        cancel: () => this.#end(),
      },
      { highWaterMark: 0 },
    );
  }

  /** Whether neither side has ended the body. */
  get open(): boolean {
    return this.#open;
  }

  /** The number of bytes that the client has read. */
  get delivered(): number {
    return this.#delivered;
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { pause, end, size } = this.#pieces;
    const atEnd = this.#delivered >= this.#last;
    if (atEnd && end === "stall") return new Promise<never>(() => undefined);
    if (pause > 0) await this.#wait(pause);
    if (!this.#open) return;
    if (!atEnd) {
      const piece = this.#bytes.slice(this.#delivered, Math.min(this.#last, this.#delivered + size));
      this.#delivered += piece.length;
      controller.enqueue(piece);
    } else if (end === "error") {
      this.#fail(controller, new TypeError("terminated"));
    } else {
      this.#end();
      controller.close();
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, resolve);
      this.#stopWaiting = () => {
        cancel();
        resolve();
      };
    });
  }

  #fail(controller: ReadableStreamDefaultController<Uint8Array>, reason: unknown): void {
    this.#end();
    controller.error(reason);
  }

  #end(): void {
    this.#open = false;
    this.#stopWaiting();
  }
}
