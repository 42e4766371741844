import type { RequestOptions } from "../../../http/endpoint/request-options.ts";
import type { StartedRow } from "../../../http/many.ts";
import { eitherSignal } from "../../../util/abort-signals.ts";
import { type CallContext, countdown } from "../../../waiting/call-context.ts";
import type { WaitOptions } from "../render-waiting.ts";

/** Milliseconds for the wait for a render without a deadline. */
const longestWait = 600_000;
/** Milliseconds between two look-ups of the status: the interval of the specification (8). */
const statusInterval = 60_000;

/** A row in progress, with the options of its requests. */
export class RowWork {
  readonly row: unknown;
  readonly left: AbortSignal;
  readonly waits: () => void;
  readonly interval: number;
  readonly onPending: WaitOptions["onPending"];
  readonly #request: RequestOptions;
  readonly #remaining: () => number | undefined;

  constructor(context: CallContext, { row, left, waits }: StartedRow, options: WaitOptions) {
    const { interval = statusInterval, onPending, ...request } = options;
    this.row = row;
    this.left = left;
    this.waits = waits;
    this.interval = interval;
    this.onPending = onPending;
    this.#request = request;
    this.#remaining = countdown(context, request.deadline);
  }

  /** The options of the creation. It is finished also if the caller leaves the loop. */
  creating(): RequestOptions {
    return { ...this.#request, deadline: this.#remaining() };
  }

  /** The options of a request that only reads, so that leaving the loop can abort it. `body` applies to the creation only. */
  reading(): RequestOptions {
    return { ...this.creating(), body: undefined, signal: eitherSignal(this.#request.signal, this.left) };
  }

  /** Milliseconds for the wait that begins now. */
  waitTime(): number {
    return this.#remaining() ?? longestWait;
  }
}
