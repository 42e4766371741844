import { AuthenticationError } from "../errors/api.ts";
import type { OrderReference } from "../references/references.ts";
import { eitherSignal, held, throwIfAborted } from "../util/abort-signals.ts";
import { dateOf, type PartnerClock } from "../util/clock.ts";
import { concurrently } from "../util/concurrency.ts";
import { OrderFollowerError, type Reconciled, ReconcileError, type ReconcileFailure } from "./errors.ts";
import { type FollowerStorage, readingLifetime } from "./follower-storage.ts";
import type { SweepSettings } from "./options.ts";
import { type LookResult, mostAhead } from "./order-state.ts";

/** Milliseconds between two rounds over the orders that another call has. */
const roundInterval = 1_000;
/** Rounds until the reading of a dead sweep has certainly ended. */
const mostRounds = Math.ceil(readingLifetime / roundInterval) + 2;
/** Marks that are read from the storage at a time. */
const marksAtOnce = 32;

/** What became of an order in a sweep: `skipped` was read by another call, `busy` is in work by one, `failed` was read but not handed over. */
export type Visit = LookResult | "skipped" | "busy" | { readonly failed: unknown };

/** Whether a sweep should read an order that was last read at a time. */
export type IsDue = (looked: number | undefined) => boolean;

/** An error of a request that all other orders would have, too. */
const isCommon = (error: unknown): boolean =>
  AuthenticationError.isInstance(error) || (OrderFollowerError.isInstance(error) && error.fault !== "busy");

/** Visits each open order once, the one that was read longest ago first. Several sweeps at a time share the orders. */
export async function sweepOrders(
  storage: FollowerStorage,
  clock: PartnerClock,
  { unreadFor, concurrency, signal }: SweepSettings & { readonly signal: AbortSignal },
  visit: (reference: OrderReference, isDue: IsDue, signal: AbortSignal) => Promise<Visit>,
): Promise<Reconciled> {
  const since = dateOf(clock) - unreadFor;
  // A time far in the future comes from a wrong clock, and does not count.
  const isDue: IsDue = (looked = 0) => looked < since || looked > dateOf(clock) + mostAhead;
  const counts = { unchanged: 0, changed: 0, gone: 0, missing: 0, skipped: 0 };
  const failures: ReconcileFailure[] = [];
  const work = (reference: OrderReference, left: AbortSignal) => visit(reference, isDue, eitherSignal(signal, left));

  let orders: Iterable<OrderReference> = await storage.openOrders();
  for (let round = 0; round < mostRounds; round += 1) {
    if (round > 0) await held<void>(signal, (resolve) => clock.after(roundInterval, resolve));
    const busy: OrderReference[] = [];
    const due = await dueOrders(storage, orders, isDue, signal);
    for await (const outcome of concurrently(due, concurrency, work, signal)) {
      const orderReference = outcome.input;
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
    orders = busy;
  }
  throwIfAborted(signal);
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
): Promise<readonly OrderReference[]> {
  const due: { readonly reference: OrderReference; readonly looked: number }[] = [];
  for await (const outcome of concurrently(orders, marksAtOnce, (reference) => storage.mark(reference), signal)) {
    if (!outcome.ok) throw outcome.error;
    const looked = outcome.value.value?.looked ?? 0;
    if (isDue(looked)) due.push({ reference: outcome.input, looked });
  }
  return due.sort((one, other) => one.looked - other.looked).map(({ reference }) => reference);
}
