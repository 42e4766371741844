import { DeadlineError } from "../../errors/connection.ts";
import { WaitTimeoutError } from "../../errors/renders.ts";
import type { Call } from "../../http/call.ts";
import type { Endpoint, EndpointInput } from "../../http/endpoint.ts";
import type { StartedRow } from "../../http/many.ts";
import { newCallId, type Observer } from "../../http/observer.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { ResponseUse } from "../../http/response.ts";
import { type CallContext, type Start, sendAndRead, type WithResponse } from "../../http/send.ts";
import type { ClientStorage } from "../../storage/client-storage.ts";
import { held } from "../../util/abort-signals.ts";
import type { PartnerClock } from "../../util/clock.ts";
import type { Slots } from "../../util/concurrency.ts";
import { defaults, type WaitOptions } from "./render-waiting.ts";

/** Milliseconds that a row must have longer than another one to do its work itself: the last look comes up to a second before the deadline. */
const longer = 1_000;

/** How many requests a call has sent so far, and whether it may send another one. */
export type SentCall = Pick<Call, "attempts" | "mayBegin" | "mayHaveHappened">;

/** What the rows of a batch work with. */
export interface BatchTools {
  readonly send: ReturnType<typeof countedSend>;
  readonly clock: PartnerClock;
  readonly storage: ClientStorage;
  readonly observer: Observer;
  /** The places of looks and of pictures. */
  readonly slots: Slots;
  /** Milliseconds between two reads of a render's status. */
  readonly interval: number;
  readonly onPending: WaitOptions["onPending"];
  /**
   * Milliseconds from the request for a picture until it is closed, unless the caller has received it. They count from the request, because
   * its `timeout` does, and because pictures that share a connection wait for each other.
   */
  readonly patience: number;
}

/** A `send` that counts the requests with their retries. `onCall` receives the call before it sends a request. */
export const countedSend =
  (start: Start, count: (requests: number) => void) =>
  async <Input extends EndpointInput, Data>(
    endpoint: Endpoint<Input, Data>,
    input: Input,
    options: RequestOptions,
    use: ResponseUse = {},
    onCall: (call: SentCall) => void = () => undefined,
  ): Promise<WithResponse<Data>> => {
    let made: SentCall | undefined;
    const work = (call: Call<Input, Data>) => {
      made = call;
      onCall(call);
      return sendAndRead(call, input, use);
    };
    try {
      return await start(endpoint, options, work).withResponse();
    } finally {
      count(made?.attempts ?? 0);
    }
  };

/** A row of a batch in progress. Its deadline begins with its work. */
export class BatchRow {
  /** The row as the caller gave it. */
  readonly given: unknown;
  /** The name of all its calls. */
  readonly callId: string;
  /** Ends its waits and its reads: the caller left the loop, or aborted the signal of the batch. */
  readonly signal: AbortSignal;
  readonly #clock: PartnerClock;
  readonly #options: RequestOptions;
  /** When its deadline ends; undefined without one. */
  readonly until: number | undefined;
  /** Resolves when the row only waits from now on, so that another one can start. */
  readonly #waits = Promise.withResolvers<void>();

  constructor(client: CallContext, options: RequestOptions, { row, left, waits }: StartedRow) {
    const { deadline = client.deadline } = options;
    this.given = row;
    this.callId = options.callId ?? newCallId();
    this.signal = left;
    this.#clock = client.clock;
    this.#options = options;
    this.until = deadline && this.#clock.now() + deadline;
    void this.#waits.promise.then(waits);
  }

  /** The milliseconds that remain; at least 1, so that the next request reports that the deadline is over. */
  get #remaining(): number | undefined {
    return this.until && Math.max(1, this.until - this.#clock.now());
  }

  /** The options of its creation, which is finished also if the caller leaves the loop. */
  creating(): RequestOptions {
    return { ...this.#options, callId: this.callId, deadline: this.#remaining };
  }

  /** The options of a request that only reads. `body` applies to the creation only. */
  reading(): RequestOptions {
    return { ...this.creating(), signal: this.signal, body: undefined };
  }

  /** Milliseconds for a wait that begins now: it is limited also if neither the call nor the client has a deadline. */
  waitTime(): number {
    return this.#remaining ?? defaults.deadline;
  }

  /** Whether an error is that of a deadline that ended at `until`, and this row has longer: then it can do the work itself. */
  outlives(until: number | undefined, error: unknown): boolean {
    const isLate = error instanceof DeadlineError || error instanceof WaitTimeoutError;
    return isLate && this.until !== undefined && until !== undefined && this.until > until + longer;
  }

  /** Says that it uses the work of another row: it only waits as soon as that one does. */
  follow(other: BatchRow): void {
    void other.#waits.promise.then(this.#waits.resolve);
  }

  /** Waits so many milliseconds, or until a promise resolves that never rejects. */
  async sleep(ms: number, until?: Promise<void>): Promise<void> {
    if (ms <= 0) return;
    this.#waits.resolve();
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
