import { AuthenticationError } from "../errors/api.ts";
import type { OrderReference } from "../references/references.ts";
import { eitherSignal, held, throwIfAborted } from "../util/abort-signals.ts";
import { dateOf, type PartnerClock } from "../util/clock.ts";
import { concurrently } from "../util/concurrency.ts";
import { safely } from "../util/foreign.ts";
import type { IsDue, SweepResult } from "./check-order.ts";
import { fault, OrderFollowerError, type Reconciled, ReconcileError, type ReconcileFailure } from "./errors.ts";
import type { FollowerStorage } from "./follower-storage.ts";
import type { SweepSettings } from "./options.ts";
import { maxClockSkew } from "./order-state.ts";

/** Milliseconds before locked orders are checked again, and the longest time that a sweep waits for them. */
const lockedInterval = 1_000;
const maxLocked = 360_000;
/** How many marks are read from the storage at a time. */
const marksAtOnce = 32;

/** True for an error that every other order would have, too. */
const isCommon = (error: unknown): boolean =>
  AuthenticationError.isInstance(error) ||
  (OrderFollowerError.isInstance(error) && (error.fault === "storage" || error.fault === "closed"));

/**
 * Checks each open order that no call has checked since the sweep began, the one that was checked longest ago first. Orders that another call is
 * working on come again at the end.
 */
export async function sweepOrders(
  storage: FollowerStorage,
  clock: PartnerClock,
  { unreadFor, concurrency, onProgress, signal }: SweepSettings & { readonly signal: AbortSignal },
  checkInSweep: (reference: OrderReference, isDue: IsDue, signal: AbortSignal) => Promise<SweepResult>,
): Promise<Reconciled> {
  const since = dateOf(clock) - unreadFor;
  // A time far in the future comes from a wrong clock.
  const isDue: IsDue = (looked = 0) => looked < since || looked > dateOf(clock) + maxClockSkew;
  const counts = { unchanged: 0, changed: 0, gone: 0, missing: 0, skipped: 0 };
  const failures: ReconcileFailure[] = [];
  const work = (reference: OrderReference, left: AbortSignal) =>
    checkInSweep(reference, isDue, eitherSignal(signal, left));
  const result = (): Reconciled => {
    const { unchanged, changed, gone, missing } = counts;
    return { checked: unchanged + changed + gone + missing, changed, gone };
  };

  let locked: OrderReference[] = [];
  const check = async (orders: Iterable<OrderReference>) => {
    const due = await dueOrders(storage, orders, isDue, signal);
    let remaining = due.length;
    locked = [];
    for await (const outcome of concurrently(due, concurrency, work, signal)) {
      const orderReference = outcome.input;
      if (!outcome.ok) {
        if (isCommon(outcome.error)) throw outcome.error;
        failures.push({ orderReference, error: outcome.error });
      } else if (typeof outcome.value === "object") {
        failures.push({ orderReference, error: outcome.value.failed });
      } else if (outcome.value === "locked") {
        locked.push(orderReference);
        continue;
      } else {
        counts[outcome.value] += 1;
      }
      remaining -= 1;
      safely(() => onProgress?.({ ...result(), failed: failures.length, remaining }));
    }
  };

  await check(await storage.openOrders());
  const until = clock.now() + maxLocked;
  while (locked.length > 0 && clock.now() < until) {
    await held<void>(signal, (resolve) => clock.after(lockedInterval, resolve));
    await check(locked);
  }
  throwIfAborted(signal);
  for (const orderReference of locked) {
    const message = `The order ${orderReference} was locked by other calls for ${maxLocked} ms.`;
    failures.push({ orderReference, error: fault("busy", message) });
  }
  if (failures.length > 0) throw new ReconcileError({ result: result(), failures });
  return result();
}

/** The due orders, the one that was checked longest ago first. An order with a damaged mark is still followed. */
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
