import { AuthenticationError } from "../errors/api.ts";
import type { OrderReference } from "../references/references.ts";
import { eitherSignal, unlessAborted } from "../util/abort-signals.ts";
import type { PartnerClock } from "../util/clock.ts";
import { concurrently } from "../util/concurrently.ts";
import type { LookResult } from "./changes.ts";
import { OrderFollowerError, type Reconciled, ReconcileError, type ReconcileFailure } from "./errors.ts";
import type { SweepSettings } from "./follower-options.ts";
import type { Handover } from "./handover.ts";
import { lifetimes } from "./lock.ts";
import { isClosed } from "./order-state.ts";
import type { Held, Mark, Records } from "./records.ts";

/** Milliseconds between two rounds over the orders that another call has. */
const interval = 1_000;
/** Rounds until the lock of a dead process has certainly ended. */
const mostRounds = Math.ceil(lifetimes.reading / interval) + 2;
/** How much the clock of another process may be ahead, in milliseconds. */
const mostAhead = 300_000;
/** Marks that are read from the store at a time. */
const marksAtOnce = 32;

/** What became of an order: `skipped` was read by another call, `busy` is locked by one, `failed` was read but not handed over. */
type Visit = LookResult | "skipped" | "busy" | "failed";

/** An error of a request that all other orders would have, too. The function of the caller can throw the same, for a reason of its own. */
const isCommon = (error: unknown): boolean =>
  AuthenticationError.isInstance(error) || (OrderFollowerError.isInstance(error) && error.fault !== "busy");

/** Looks at each open order once, the one that was read longest ago first. Several sweeps at a time share the orders. */
export class Sweep {
  readonly #records: Records;
  readonly #handover: Handover;
  readonly #clock: PartnerClock;
  readonly #concurrency: number;
  /** Orders that were read since then are skipped. */
  readonly #since: number;
  readonly #failures: ReconcileFailure[] = [];
  readonly #counts = { unchanged: 0, changed: 0, gone: 0, missing: 0, skipped: 0, busy: 0, failed: 0 };

  constructor(records: Records, handover: Handover, clock: PartnerClock, settings: SweepSettings) {
    this.#records = records;
    this.#handover = handover;
    this.#clock = clock;
    this.#concurrency = settings.concurrency;
    this.#since = clock.now() - settings.unreadFor;
  }

  async run(signal: AbortSignal): Promise<Reconciled> {
    let references = await this.#due(signal);
    for (let round = 0; references.length > 0 && round < mostRounds; round += 1) {
      if (round > 0) await this.#pause(signal);
      references = await this.#round(references, signal);
    }
    if (signal.aborted) throw signal.reason;
    const { unchanged, changed, gone, missing } = this.#counts;
    const result = { checked: unchanged + changed + gone + missing, changed, gone };
    if (this.#failures.length > 0) throw new ReconcileError({ result, failures: this.#failures });
    return result;
  }

  /** The open orders that are due, the one that was read longest ago first. An order whose mark is damaged is still followed. */
  async #due(signal: AbortSignal): Promise<OrderReference[]> {
    const due: { reference: OrderReference; looked: number }[] = [];
    const read = (reference: OrderReference) => this.#records.mark(reference);
    for await (const outcome of concurrently(await this.#records.open(), marksAtOnce, read, signal)) {
      if (!outcome.ok) throw outcome.error;
      const { input: reference, value: mark } = outcome;
      if (this.#isDue(mark)) due.push({ reference, looked: mark.value?.looked ?? 0 });
    }
    return due.sort((one, other) => one.looked - other.looked).map(({ reference }) => reference);
  }

  /** A time far in the future comes from a wrong clock, and does not count. */
  #isDue({ value }: Held<Mark>): boolean {
    const looked = value?.looked ?? 0;
    return looked < this.#since || looked > this.#clock.now() + mostAhead;
  }

  /** Visits the orders. Resolves to those that another call has. */
  async #round(references: readonly OrderReference[], signal: AbortSignal): Promise<OrderReference[]> {
    const busy: OrderReference[] = [];
    const visit = (reference: OrderReference, left: AbortSignal) => this.#visit(reference, eitherSignal(signal, left));
    for await (const outcome of concurrently(references, this.#concurrency, visit, signal)) {
      if (outcome.ok) {
        this.#counts[outcome.value] += 1;
        if (outcome.value === "busy") busy.push(outcome.input);
      } else if (isCommon(outcome.error)) {
        throw outcome.error;
      } else {
        this.#fail(outcome.input, outcome.error);
      }
    }
    return busy;
  }

  async #visit(reference: OrderReference, signal: AbortSignal): Promise<Visit> {
    const lock = await this.#records.lock(reference, "reading");
    if (lock === undefined) return "busy";
    try {
      const memory = await this.#handover.remembered(reference);
      const { mark, order } = memory;
      const isOver = mark.bytes === undefined && order.value !== undefined && isClosed(order.value);
      if (isOver || !this.#isDue(mark)) return "skipped";
      const news = await this.#handover.read(reference, memory, { priority: "low", signal });
      const isNews = news === undefined || news.next !== undefined;
      if (isNews && !(await lock.upgrade())) {
        // Another call has taken the lock over, and may have handed over something newer.
        return this.#isDue(await this.#records.mark(reference)) ? "busy" : "skipped";
      }
      const ending =
        news === undefined
          ? this.#handover.look(reference, lock)
          : this.#handover.handOver(reference, memory, news, lock);
      return await ending.then(
        (found) => found ?? "busy",
        (error: unknown) => this.#fail(reference, error),
      );
    } finally {
      await lock.release();
    }
  }

  #fail(orderReference: OrderReference, error: unknown): "failed" {
    this.#failures.push({ orderReference, error });
    return "failed";
  }

  async #pause(signal: AbortSignal): Promise<void> {
    let stopTimer: () => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      stopTimer = this.#clock.after(interval, resolve);
    });
    await unlessAborted(over, signal).finally(stopTimer);
  }
}
