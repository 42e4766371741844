import { DeadlineError } from "../../errors/connection.ts";
import type { Call } from "../../http/call.ts";
import type { Endpoint, EndpointInput } from "../../http/endpoint.ts";
import { newCallId } from "../../http/observer.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { ResponseUse } from "../../http/response.ts";
import { type CallContext, type Start, sendAndRead, type WithResponse } from "../../http/send.ts";
import type { ClientStorage } from "../../storage/client-storage.ts";
import { held } from "../../util/abort-signals.ts";
import type { Slots } from "../../util/concurrency.ts";
import type { Latest } from "../../util/latest.ts";
import type { StartedRow } from "../many.ts";
import { defaults, type WaitOptions } from "./render-waiting.ts";

/** Milliseconds that a row must have left to repeat work that ended with another row's deadline. */
const minTime = 1_000;

/** What the work on a row needs of its batch. */
export interface BatchTools {
  readonly send: ReturnType<typeof countedSend>;
  readonly context: CallContext;
  readonly storage: ClientStorage;
  /** The slots of open pictures. */
  readonly slots: Slots;
  /** Milliseconds between two reads of a render's status. */
  readonly interval: number;
  readonly onPending: WaitOptions["onPending"];
  /**
   * Milliseconds from the request for a picture until it is closed if the caller has not received it. They count from the request, like its
   * `timeout`, and because pictures on one connection wait for each other.
   */
  readonly patience: number;
}

/** Makes a `send` that counts its requests, retries included. `onCall` receives the attempts of the call before the first one. */
export const countedSend =
  (start: Start, count: (requests: number) => void) =>
  async <Input extends EndpointInput, Data>(
    endpoint: Endpoint<Input, Data>,
    input: Input,
    options: RequestOptions,
    use: ResponseUse = {},
    onCall: (attempts: Call["attempts"]) => void = () => undefined,
  ): Promise<WithResponse<Data>> => {
    let made: Call["attempts"] | undefined;
    const work = (call: Call<Input, Data>) => {
      made = call.attempts;
      onCall(call.attempts);
      return sendAndRead(call, input, use);
    };
    try {
      return await start(endpoint, options, work).withResponse();
    } finally {
      count(made?.count ?? 0);
    }
  };

/** A row of a batch in progress. Its deadline starts with its work. */
export class BatchRow {
  /** The caller's row. */
  readonly given: unknown;
  /** The `callId` of all its calls. */
  readonly callId: string;
  /** Aborts its waits and reads when the caller leaves the loop or aborts the signal of the batch. */
  readonly signal: AbortSignal;
  /** Resolves when the row only waits, so that another row can start. */
  readonly waiting: Promise<void>;
  /** Call it when the rest of the row's work is only waiting. */
  readonly onlyWaits: () => void;
  /** When its deadline ends, in milliseconds of the clock; undefined without one. */
  readonly until: number | undefined;
  readonly #clock: CallContext["clock"];
  readonly #options: RequestOptions;

  constructor({ clock, deadline: ofClient }: CallContext, options: RequestOptions, { row, left, waits }: StartedRow) {
    const { deadline = ofClient } = options;
    this.given = row;
    this.callId = options.callId ?? newCallId();
    this.signal = left;
    this.#clock = clock;
    this.#options = options;
    this.until = deadline && clock.now() + deadline;
    ({ promise: this.waiting, resolve: this.onlyWaits } = Promise.withResolvers<void>());
    void this.waiting.then(waits);
  }

  /** Milliseconds left of the deadline; at least 1, so that the next request reports its end. */
  get #remaining(): number | undefined {
    return this.until && Math.max(1, this.until - this.#clock.now());
  }

  /** The options of its creation, which is finished even if the caller leaves the loop. */
  creating(): RequestOptions {
    return { ...this.#options, callId: this.callId, deadline: this.#remaining };
  }

  /** The options of a request that only reads. `body` applies only to the creation. */
  reading(): RequestOptions {
    return { ...this.creating(), signal: this.signal, body: undefined };
  }

  /** Milliseconds for a wait that begins now. It is limited even if neither the call nor the client has a deadline. */
  waitTime(): number {
    return this.#remaining ?? defaults.deadline;
  }

  /** Whether shared work failed because of another row's deadline, and this row has time to repeat it. */
  canRepeat(error: unknown): boolean {
    return error instanceof DeadlineError && (this.#remaining ?? 0) > minTime;
  }

  /** Waits for this many milliseconds, or until `until` resolves, which must never reject. */
  async sleep(ms: number, until?: Promise<void>): Promise<void> {
    if (ms <= 0) return;
    this.onlyWaits();
    await held<void>(this.signal, (resolve) => {
      const stop = this.#clock.after(ms, () => resolve());
      void until?.then(() => {
        stop();
        resolve();
      });
      return stop;
    });
  }
}

/** Work that several rows need. */
export interface SharedWork<T> {
  /** Resolves when the row that does the work only waits; undefined when the work has ended. */
  waiting: Promise<void> | undefined;
  readonly result: Promise<T>;
}

/**
 * Does work once for all rows that need it. Work that ends with the deadline of its row is repeated by another row. The result is forgotten
 * unless `isKept`.
 */
export async function shareWork<T>(
  known: Latest<SharedWork<T>>,
  key: string,
  row: BatchRow,
  work: () => Promise<T>,
  isKept: (failure?: { readonly error: unknown }) => boolean = () => false,
): Promise<T> {
  for (let other = known.get(key); other !== undefined; other = known.get(key)) {
    void other.waiting?.then(row.onlyWaits);
    try {
      return await other.result;
    } catch (error) {
      if (!row.canRepeat(error)) throw error;
    }
  }
  const mine: SharedWork<T> = { waiting: row.waiting, result: work() };
  known.set(key, mine);
  try {
    const result = await mine.result;
    if (!isKept()) known.forget(key, mine);
    return result;
  } catch (error) {
    if (!isKept({ error })) known.forget(key, mine);
    throw error;
  } finally {
    mine.waiting = undefined;
  }
}
