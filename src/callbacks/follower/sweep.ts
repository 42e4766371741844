import { AuthenticationError } from "../../errors/api.ts";
import type { OrderReference } from "../../references/references.ts";
import { eitherSignal, unlessAborted } from "../../util/abort-signals.ts";
import type { PartnerClock } from "../../util/clock.ts";
import { concurrently } from "../../util/concurrently.ts";
import type { Found } from "./changes.ts";
import { OrderFollowerError, type Reconciled, ReconcileError, type ReconcileFailure } from "./errors.ts";
import type { Look } from "./handover.ts";
import type { SweepSettings } from "./options.ts";
import { type Held, type Mark, markBytes, type Records } from "./records.ts";

/** Milliseconds for which a sweep has an order. Another sweep takes it after that. */
const claimTime = 30_000;
/** Milliseconds between two rounds over the orders that another sweep has. */
const interval = 1_000;
/** How much the clock of another process may be ahead, in milliseconds. */
const mostAhead = 300_000;
/** Marks that are read from the store at a time. */
const atOnce = 32;

/** What a sweep needs. */
export interface SweepParts {
  readonly records: Records;
  readonly clock: PartnerClock;
  /** Reads an order. Resolves to undefined if there is no news. */
  readonly look: (reference: OrderReference, claim: Uint8Array, signal: AbortSignal) => Promise<Look | undefined>;
  /** Hands over what a look has found. */
  readonly handOver: (reference: OrderReference, look: Look) => Promise<Found>;
}

interface OpenOrder {
  readonly reference: OrderReference;
  readonly held: Held<Mark>;
}

/** What became of an order: `skipped` was read by another process, `busy` is in another sweep, `failed` was read but not handed over. */
type Visit = Found | "skipped" | "busy" | "failed";

/** An error of a look that all other orders would have, too. The function of the caller can throw the same, for a reason of its own. */
const isCommon = (error: unknown): boolean =>
  AuthenticationError.isInstance(error) || (OrderFollowerError.isInstance(error) && error.fault !== "busy");

/** Looks at each open order once, the one that was read longest ago first. Several sweeps at a time share the orders. */
export class Sweep {
  readonly #parts: SweepParts;
  readonly #settings: SweepSettings;
  /** Orders that were read since then are skipped. */
  readonly #since: number;
  readonly #failures: ReconcileFailure[] = [];
  readonly #counts = { unchanged: 0, changed: 0, gone: 0, missing: 0, skipped: 0, busy: 0, failed: 0 };

  constructor(parts: SweepParts, settings: SweepSettings) {
    this.#parts = parts;
    this.#settings = settings;
    this.#since = parts.clock.now() - settings.unreadFor;
  }

  async run(signal: AbortSignal): Promise<Reconciled> {
    let orders = await this.#due(await this.#parts.records.open(), signal);
    const rounds = Math.ceil(claimTime / interval) + 1;
    for (let round = 0; orders.length > 0 && round < rounds; round += 1) {
      if (round > 0) await this.#pause(signal);
      orders = await this.#round(orders, signal);
    }
    if (signal.aborted) throw signal.reason;
    const { unchanged, changed, gone, missing } = this.#counts;
    const result = { checked: unchanged + changed + gone + missing, changed, gone };
    if (this.#failures.length > 0) throw new ReconcileError({ result, failures: this.#failures });
    return result;
  }

  /** Reads the marks and sorts the orders that are due. */
  async #due(references: ReadonlySet<OrderReference>, signal: AbortSignal): Promise<OpenOrder[]> {
    const due: OpenOrder[] = [];
    const read = async (reference: OrderReference): Promise<OpenOrder> => ({
      reference,
      held: await this.#parts.records.mark(reference),
    });
    for await (const outcome of concurrently(references, atOnce, read, signal)) {
      if (!outcome.ok) throw outcome.error;
      if (this.#isDue(outcome.value.held)) due.push(outcome.value);
    }
    return due.sort((one, other) => (one.held.value?.looked ?? 0) - (other.held.value?.looked ?? 0));
  }

  /** A time far in the future comes from a wrong clock, and does not count. An order whose mark is damaged is still followed. */
  #isDue({ value }: Held<Mark>): boolean {
    const looked = value?.looked ?? 0;
    return looked < this.#since || looked > this.#parts.clock.now() + mostAhead;
  }

  /** Visits the orders. Resolves to those that another sweep has. */
  async #round(orders: readonly OpenOrder[], signal: AbortSignal): Promise<OpenOrder[]> {
    const busy: OpenOrder[] = [];
    const visit = (order: OpenOrder, left: AbortSignal) => this.#visit(order, eitherSignal(signal, left));
    for await (const outcome of concurrently(orders, this.#settings.concurrency, visit, signal)) {
      const { input } = outcome;
      if (outcome.ok) {
        this.#counts[outcome.value] += 1;
        if (outcome.value === "busy") busy.push(input);
      } else if (isCommon(outcome.error)) {
        throw outcome.error;
      } else {
        this.#fail(input.reference, outcome.error);
      }
    }
    return busy;
  }

  async #visit({ reference, held }: OpenOrder, signal: AbortSignal): Promise<Visit> {
    const mine = await this.#claim(reference, held);
    if (typeof mine === "string") return mine;
    let visited: Found | undefined;
    try {
      const look = await this.#parts.look(reference, markBytes(mine), signal);
      visited =
        look === undefined
          ? "unchanged"
          : await this.#parts.handOver(reference, look).catch((error: unknown) => this.#fail(reference, error));
      return visited ?? "failed";
    } finally {
      if (visited === undefined) await this.#release(reference, mine).catch(() => undefined);
    }
  }

  #fail(orderReference: OrderReference, error: unknown): undefined {
    this.#failures.push({ orderReference, error });
  }

  async #pause(signal: AbortSignal): Promise<void> {
    let stopTimer: () => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      stopTimer = this.#parts.clock.after(interval, resolve);
    });
    await unlessAborted(over, signal).finally(stopTimer);
  }

  /**
   * Claims an order in its mark, so that other sweeps skip it. A hand-over of the order ends the claim, and so
   * shows that the response to this sweep may be outdated.
   */
  async #claim(reference: OrderReference, listed: Held<Mark>): Promise<Mark | "skipped" | "busy"> {
    const { records, clock } = this.#parts;
    for (let held = listed, tries = 0; tries < 3; held = await records.mark(reference), tries += 1) {
      const isClosed = tries > 0 && held.bytes === undefined;
      if (isClosed || !this.#isDue(held)) return "skipped";
      const { claim, ...free } = held.value ?? { v: 1, looked: 0 };
      const [claimed] = claim ?? [0];
      const now = clock.now();
      if (claimed > now && claimed <= now + claimTime + mostAhead) return "busy";
      const mine: Mark = { ...free, claim: [now + claimTime, crypto.randomUUID().slice(0, 8)] };
      const set = records.setMark(reference, mine, held);
      // A slow store can set it after the sweep has given up.
      set.catch(() => this.#release(reference, mine)).catch(() => undefined);
      if (await set) return mine;
    }
    return "busy";
  }

  /** After a failure, the next sweep may take the order at once. */
  async #release(reference: OrderReference, mine: Mark): Promise<void> {
    const { claim: _, ...free } = mine;
    await this.#parts.records.setMark(reference, free, { bytes: markBytes(mine) });
  }
}
