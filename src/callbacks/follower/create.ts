import type { OrderReference } from "../../references/references.ts";
import type { Found } from "./changes.ts";
import type { Reconciled } from "./errors.ts";
import { Follower } from "./follower.ts";
import { type OrderFollowerOptions, type ReconcileOptions, resolveFollowerOptions } from "./options.ts";

/** Follows orders: hands over what is new about each. Its functions need no `this`. */
export interface OrderFollower {
  /**
   * Follows an order: sweeps look at it until it is completed. Call it after placing the order. It sends no request, and does nothing for
   * an order that is followed or completed. The first news of an order follows it, too.
   *
   * @throws `OrderFollowerError` if the store failed.
   */
  readonly follow: (orderReference: OrderReference) => Promise<void>;
  /**
   * Looks at an order now, with high priority, and hands over what is new. Resolves when the handler has finished, or there is nothing
   * new, or the service does not have the order; the result says which. Calls for one order that wait at the same time share a look.
   *
   * @throws What the handler threw; the error of the request; `OrderFollowerError` if the store failed, the order was busy for too long, or
   * each response was older than what was handed over; `DeadlineError` after the `timeout`. The same change comes again with the next look.
   * `DeadlockError` in the handler of this order, which it would wait for, on platforms with `node:async_hooks`.
   */
  readonly update: (orderReference: OrderReference) => Promise<Found>;
  /**
   * Looks at all open orders that are followed, with low priority: one request for each, the one that was read longest ago first. A sweep
   * after a crash so begins where the last one stopped. Processes that sweep at the same time share the orders.
   *
   * @throws `ReconcileError` at the end if orders have failed. A failed store or a refused key ends the sweep at once. `DeadlockError` in
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
 *   store: sqliteStore("orders.db"),
 *   every: 3_600_000,
 *   onChange: ({ order, changes }) => console.log(order.reference, changes),
 * });
 * const receiver = createOrderUpdatedReceiver({ follower, token, environment: "prod" });
 */
export function createOrderFollower(options: OrderFollowerOptions): OrderFollower {
  const follower = new Follower(resolveFollowerOptions(options));
  return {
    follow: (orderReference) => follower.follow(orderReference),
    update: (orderReference) => follower.update(orderReference),
    reconcile: (given) => follower.reconcile(given),
    close: () => follower.close(),
  };
}
