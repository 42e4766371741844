import { RequestValidationError } from "../errors/validation.ts";
import { type OrderReference, referenceFault } from "../references/references.ts";
import { ScopedStorage } from "../storage/scoped-storage.ts";
import { abortController, eitherSignal, throwIfAborted } from "../util/abort-signals.ts";
import { dateOf } from "../util/clock.ts";
import { safely } from "../util/foreign.ts";
import { lazily } from "../util/lazily.ts";
import { createOrderChecks } from "./check-order.ts";
import { fault, type Reconciled } from "./errors.ts";
import { FollowerStorage } from "./follower-storage.ts";
import {
  type OrderFollowerOptions,
  type ReconcileOptions,
  resolveFollowerOptions,
  resolveReconcileOptions,
} from "./options.ts";
import type { LookResult } from "./order-state.ts";
import { sweepOrders } from "./sweep.ts";

/** Follows orders: hands over what is new about each. Its functions need no `this`. */
export interface OrderFollower {
  /**
   * Follows an order: sweeps check it until it is completed. Call it after placing the order. It sends no request, and does nothing if the
   * order is already followed or completed. The first news of an order follows it, too.
   *
   * @throws `OrderFollowerError` if the storage failed.
   */
  readonly follow: (orderReference: OrderReference) => Promise<void>;
  /**
   * Checks an order now, with high priority, and hands over what is new. Resolves when the handler has finished, or if nothing is new or the
   * service does not have the order; the result says which. Calls for one order that wait at the same time share a check.
   *
   * @throws What the handler threw; the error of the request; `OrderFollowerError` if the storage failed, the order was locked for too long, or
   * each response was older than what was handed over; `DeadlineError` if the handler exceeded the `timeout`. The next check hands the same
   * change over again.
   */
  readonly update: (orderReference: OrderReference) => Promise<LookResult>;
  /**
   * Checks all open orders that are followed, with low priority: one request for each, the order that was checked longest ago first. After a
   * crash, the next sweep starts where this one stopped. Processes that sweep at the same time share the orders.
   *
   * @throws `ReconcileError` at the end if orders failed. A lost storage or a refused key ends the sweep at once.
   */
  readonly reconcile: (options?: ReconcileOptions) => Promise<Reconciled>;
  /** Stops the timer and running sweeps, refuses new calls, and waits for running handlers. */
  readonly close: () => Promise<void>;
}

/**
 * Makes a follower: it decides what is new about an order, for callbacks and sweeps alike.
 *
 * Each change is handed over at least once: it is remembered only after the handler has finished. Changes come in forward order: shipped
 * and canceled quantities never decrease, and an older response is dropped, also if another process has read the newer one.
 *
 * A handler must not wait for its own follower: for `update` of its own order, `reconcile` or `close`. Such a wait ends at the `timeout`.
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
  const { partner, storage, clock, interval, keepFor, onError } = settings;
  const scoped = lazily(async () => new ScopedStorage(storage, await partner["~scopeOf"](storage)));
  const records = new FollowerStorage(scoped, clock, keepFor);
  const { update, checkInSweep } = createOrderChecks(settings, records);
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
        return update(reference);
      }),

    reconcile: (options = {}) =>
      untilClosed(async () => {
        const sweep = resolveReconcileOptions(options);
        const signal = eitherSignal(sweep.signal, closing.signal);
        return sweepOrders(records, clock, { ...sweep, signal }, checkInSweep);
      }),

    close: async () => {
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
