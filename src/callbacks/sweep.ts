import { AuthenticationError } from "../errors/api.ts";
import type { OrderReference } from "../references/references.ts";
import { eitherSignal, held } from "../util/abort-signals.ts";
import type { PartnerClock } from "../util/clock.ts";
import { concurrently } from "../util/concurrency.ts";
import { OrderFollowerError, type Reconciled, ReconcileError, type ReconcileFailure } from "./errors.ts";
import type { FollowerStorage, Held, OpenMark } from "./follower-storage.ts";
import type { SweepSettings } from "./options.ts";
import type { LookResult } from "./order-state.ts";

/** Milliseconds after which the reading of a dead sweep has ended. A request of a sweep can wait long in the queue of the client. */
export const readingLifetime = 30_000;
/** Milliseconds between two rounds over the orders that another call has. */
const roundInterval = 1_000;
/** Rounds until the reading of a dead sweep has certainly ended. */
const mostRounds = Math.ceil(readingLifetime / roundInterval) + 2;
/** How many milliseconds the clock of another process may be ahead. */
const mostAhead = 300_000;
/** Marks that are read from the storage at a time. */
const marksAtOnce = 32;

/** What became of an order in a sweep: `skipped` was read by another call, `busy` is locked by one, `failed` was read but not handed over. */
export type Visit = LookResult | "skipped" | "busy" | { readonly failed: unknown };

/** Whether a sweep should read an order that was last read at a time. */
export type IsDue = (looked: number | undefined) => boolean;

export interface SweepParts {
  readonly storage: FollowerStorage;
  readonly clock: PartnerClock;
  readonly visit: (
    reference: OrderReference,
    mark: Held<OpenMark>,
    isDue: IsDue,
    signal: AbortSignal,
  ) => Promise<Visit>;
}

/** An order that a sweep should read, with its mark. */
interface DueOrder {
  readonly reference: OrderReference;
  readonly mark: Held<OpenMark>;
}

/** An error of a request that all other orders would have, too. */
const isCommon = (error: unknown): boolean =>
  AuthenticationError.isInstance(error) || (OrderFollowerError.isInstance(error) && error.fault !== "busy");

/** Visits each open order once, the one that was read longest ago first. Several sweeps at a time share the orders. */
export async function sweepOrders(
  { storage, clock, visit }: SweepParts,
  { unreadFor, concurrency }: SweepSettings,
  signal: AbortSignal,
): Promise<Reconciled> {
  const since = clock.now() - unreadFor;
  // A time far in the future comes from a wrong clock, and does not count.
  const isDue: IsDue = (looked = 0) => looked < since || looked > clock.now() + mostAhead;
  const counts = { unchanged: 0, changed: 0, gone: 0, missing: 0, skipped: 0 };
  const failures: ReconcileFailure[] = [];

  const work = ({ reference, mark }: DueOrder, leaving: AbortSignal) =>
    visit(reference, mark, isDue, eitherSignal(signal, leaving));

  let left: Iterable<OrderReference> = await storage.openOrders();
  for (let round = 0; round < mostRounds; round += 1) {
    if (round > 0) await held<void>(signal, (resolve) => clock.after(roundInterval, resolve));
    const busy: OrderReference[] = [];
    for await (const outcome of concurrently(
      await dueOrders(storage, left, isDue, signal),
      concurrency,
      work,
      signal,
    )) {
      const orderReference = outcome.input.reference;
      if (!outcome.ok) {
        if (isCommon(outcome.error)) throw outcome.error;
        failures.push({ orderReference, error: outcome.error });
      } else if (typeof outcome.value === "object") {
        failures.push({ orderReference, error: outcome.value.failed });
      } else if (outcome.value === "busy") {
        busy.push(orderReference);
      } else {
        counts[outcome.value] += 1;
      }
    }
    if (busy.length === 0) break;
    left = busy;
  }
  if (signal.aborted) throw signal.reason;
  const { unchanged, changed, gone, missing } = counts;
  const result = { checked: unchanged + changed + gone + missing, changed, gone };
  if (failures.length > 0) throw new ReconcileError({ result, failures });
  return result;
}

/** The orders that are due, the one that was read longest ago first. An order whose mark is damaged is still followed. */
async function dueOrders(
  storage: FollowerStorage,
  orders: Iterable<OrderReference>,
  isDue: IsDue,
  signal: AbortSignal,
): Promise<readonly DueOrder[]> {
  const due: DueOrder[] = [];
  const read = (reference: OrderReference) => storage.mark(reference);
  for await (const outcome of concurrently(orders, marksAtOnce, read, signal)) {
    if (!outcome.ok) throw outcome.error;
    if (isDue(outcome.value.value?.looked)) due.push({ reference: outcome.input, mark: outcome.value });
  }
  const looked = ({ mark }: DueOrder) => mark.value?.looked ?? 0;
  return due.sort((one, other) => looked(one) - looked(other));
}
