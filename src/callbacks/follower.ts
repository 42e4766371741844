import { RequestValidationError } from "../errors/validation.ts";
import { type OrderReference, referenceFault } from "../references/references.ts";
import { ScopedStorage } from "../storage/scoped-storage.ts";
import { abortController, eitherSignal, throwIfAborted } from "../util/abort-signals.ts";
import { dateOf } from "../util/clock.ts";
import { safely } from "../util/foreign.ts";
import { lazily } from "../util/lazily.ts";
import { fault, type Reconciled } from "./errors.ts";
import { FollowerStorage } from "./follower-storage.ts";
import { createLooks } from "./look.ts";
import {
  type OrderFollowerOptions,
  type ReconcileOptions,
  resolveFollowerOptions,
  resolveReconcileOptions,
} from "./options.ts";
import type { LookResult } from "./order-state.ts";
import { deadlockHint, OrderQueue, refuseInHandler } from "./order-work.ts";
import { sweepOrders } from "./sweep.ts";

/** Follows orders: hands over what is new about each. Its functions need no `this`. */
export interface OrderFollower {
  /**
   * Follows an order: sweeps look at it until it is completed. Call it after placing the order. It sends no request, and does nothing for
   * an order that is followed or completed. The first news of an order follows it, too.
   *
   * @throws `OrderFollowerError` if the storage failed.
   */
  readonly follow: (orderReference: OrderReference) => Promise<void>;
  /**
   * Looks at an order now, with high priority, and hands over what is new. Resolves when the handler has finished, or there is nothing
   * new, or the service does not have the order; the result says which. Calls for one order that wait at the same time share a look.
   *
   * @throws What the handler threw; the error of the request; `OrderFollowerError` if the storage failed, the order was busy for too long, or
   * each response was older than what was handed over; `DeadlineError` after the `timeout`. The same change comes again with the next look.
   * `DeadlockError` in the handler of this order, which it would wait for, on platforms with `node:async_hooks`.
   */
  readonly update: (orderReference: OrderReference) => Promise<LookResult>;
  /**
   * Looks at all open orders that are followed, with low priority: one request for each, the one that was read longest ago first. A sweep
   * after a crash so begins where the last one stopped. Processes that sweep at the same time share the orders.
   *
   * @throws `ReconcileError` at the end if orders have failed. A failed storage or a refused key ends the sweep at once. `DeadlockError` in
   * a handler of this follower.
   */
  readonly reconcile: (options?: ReconcileOptions) => Promise<Reconciled>;
  /**
   * Stops the timer and running sweeps, refuses new calls, and waits for the changes that are being handled.
   *
   * @throws `DeadlockError` in a handler of this follower.
   */
  readonly close: () => Promise<void>;
}

/**
 * Makes a follower: the one place that decides what is new about an order, for callbacks and sweeps alike.
 *
 * Each change is handed over at least once: it is remembered only after the handler has finished. Changes come in forward order: shipped
 * and canceled quantities never decrease, and an older response is dropped, also when another process has read the newer one.
 *
 * @throws `ConfigurationError` if an option is invalid or unknown.
 * @example
 * const follower = createOrderFollower({
 *   partner,
 *   storage: sqliteStorage("orders.db"),
 *   interval: 3_600_000,
 *   onChange: ({ order, changes }) => console.log(order.reference, changes),
 * });
 * const receiver = createOrderUpdatedReceiver({ follower, token: "4f1c0a8b5d7e2396", environment: "prod" });
 */
export function createOrderFollower(options: OrderFollowerOptions): OrderFollower {
  const settings = resolveFollowerOptions(options);
  const { partner, storage, clock, timeout, interval, keepFor, onError } = settings;
  const scoped = lazily(async () => new ScopedStorage(storage, await partner["~scopeOf"](storage)));
  const records = new FollowerStorage(scoped, clock, keepFor);
  // The callers limit how many orders they update at a time.
  const updates = new OrderQueue<LookResult>({ clock, concurrency: Number.POSITIVE_INFINITY, maxWait: timeout });
  const { lockAndLook, visit } = createLooks(settings, records);
  /** The calls that `close` waits for. */
  const running = new Set<Promise<unknown>>();
  const closing = abortController();
  let stopTimer: () => void = () => undefined;

  /** Runs work that `close` waits for. */
  async function untilClosed<Result>(work: () => Promise<Result>): Promise<Result> {
    throwIfAborted(closing.signal);
    const result = work();
    running.add(result);
    try {
      return await result;
    } finally {
      running.delete(result);
    }
  }

  /** Sweeps now and once in each period, until the follower is closed. */
  async function sweepEvery(interval: number): Promise<void> {
    const next = clock.now() + interval;
    try {
      await follower.reconcile({ unreadFor: interval / 2 });
    } catch (error) {
      if (!closing.signal.aborted) safely(() => onError(error));
    }
    if (closing.signal.aborted) return;
    stopTimer = clock.after(Math.max(0, next - clock.now()), () => void sweepEvery(interval));
  }

  const follower: OrderFollower = {
    follow: (reference) =>
      untilClosed(async () => {
        checkReference(reference);
        const { order, mark } = await records.load(reference);
        if (order.bytes !== undefined || mark.bytes !== undefined) return;
        await records.setMark(reference, { looked: 0, since: dateOf(clock) }, mark);
      }),

    update: (reference) =>
      untilClosed(async () => {
        checkReference(reference);
        refuseInHandler(settings, "`update`", reference);
        const message = `An earlier change of the order ${reference} is in work for more than ${timeout} ms. ${deadlockHint}`;
        const late = () => Promise.reject(fault("busy", message));
        return updates.run(reference, () => lockAndLook(reference), late);
      }),

    reconcile: (options = {}) =>
      untilClosed(async () => {
        const sweep = resolveReconcileOptions(options);
        refuseInHandler(settings, "`reconcile`");
        const signal = eitherSignal(sweep.signal, closing.signal);
        return sweepOrders(records, clock, { ...sweep, signal }, visit);
      }),

    close: async () => {
      refuseInHandler(settings, "`close` of the follower");
      stopTimer();
      closing.abort(fault("closed", "The follower is closed. Repeat the call in another process."));
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
  if (interval !== undefined) stopTimer = clock.after(0, () => void sweepEvery(interval));
  return follower;
}

function checkReference(reference: OrderReference): void {
  const message = referenceFault("Order", reference);
  if (message !== undefined) throw new RequestValidationError({ issues: [{ path: ["orderReference"], message }] });
}
