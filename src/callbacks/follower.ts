import { RequestValidationError } from "../errors/validation.ts";
import { type OrderReference, referenceFault } from "../references/references.ts";
import { ScopedStorage, type ScopeOf, scopeOf } from "../storage/scoped-storage.ts";
import { eitherSignal } from "../util/abort-signals.ts";
import { safely } from "../util/foreign.ts";
import { lazily } from "../util/lazily.ts";
import type { LookResult } from "./changes.ts";
import { OrderFollowerError, type Reconciled } from "./errors.ts";
import {
  type FollowerSettings,
  type OrderFollowerOptions,
  type ReconcileOptions,
  resolveFollowerOptions,
  resolveReconcileOptions,
} from "./follower-options.ts";
import { deadlockHint, refuseInHandler } from "./handlers.ts";
import { Handover } from "./handover.ts";
import type { OrderLock } from "./lock.ts";
import { OrderQueue } from "./order-queue.ts";
import { Records } from "./records.ts";
import { Sweep } from "./sweep.ts";

/** Milliseconds between two attempts to lock an order. */
const lockEvery = 100;
/** How often one call looks at an order because it lost its lock, or another process was faster. */
const mostTries = 5;

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
  readonly update: (orderReference: OrderReference) => Promise<LookResult>;
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
 * const receiver = createOrderUpdatedReceiver({ follower, token: "4f1c0a8b5d7e", environment: "prod" });
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

/** Looks at orders, one look at a time for each order, on request, in sweeps, and on the timer. */
class Follower {
  readonly #settings: FollowerSettings;
  readonly #records: Records;
  readonly #handover: Handover;
  readonly #updates: OrderQueue<LookResult | "late">;
  readonly #closing = new AbortController();
  readonly #work = new Set<Promise<unknown>>();
  #stopTimer: () => void = () => undefined;

  constructor(settings: FollowerSettings) {
    const { partner, store, clock, timeout, every, forgetAfter } = settings;
    const scoped = lazily(async () => {
      const nameScope = Reflect.get(partner, scopeOf) as ScopeOf;
      return new ScopedStorage(store, await nameScope(store));
    });
    this.#settings = settings;
    this.#records = new Records(scoped, clock, forgetAfter);
    this.#handover = new Handover(settings, this.#records);
    // The callers limit how many orders they update at a time.
    this.#updates = new OrderQueue({ clock, concurrency: Number.POSITIVE_INFINITY, maxWait: timeout, late: "late" });
    if (every !== undefined) this.#sweepEvery(every);
  }

  follow(reference: OrderReference): Promise<void> {
    return this.#during(async () => {
      checkReference(reference);
      const { bytes } = await this.#records.order(reference);
      if (bytes !== undefined) return;
      const since = this.#settings.clock.now();
      await this.#records.setMark(reference, { looked: 0, since }, { bytes: undefined });
    });
  }

  update(reference: OrderReference): Promise<LookResult> {
    return this.#during(async () => {
      checkReference(reference);
      refuseInHandler(this.#settings, "`update`", reference);
      const found = await this.#updates.run(reference, () => this.#update(reference));
      if (found !== "late") return found;
      const message = `An earlier change of the order ${reference} is in work for more than ${this.#settings.timeout} ms. ${deadlockHint}`;
      throw new OrderFollowerError({ fault: "busy", message });
    });
  }

  reconcile(options: ReconcileOptions = {}): Promise<Reconciled> {
    return this.#during(async () => {
      const settings = resolveReconcileOptions(options);
      refuseInHandler(this.#settings, "`reconcile`");
      const sweep = new Sweep(this.#records, this.#handover, this.#settings.clock, settings);
      return sweep.run(eitherSignal(settings.signal, this.#closing.signal));
    });
  }

  async close(): Promise<void> {
    refuseInHandler(this.#settings, "`close` of the follower");
    this.#stopTimer();
    this.#closing.abort(
      new OrderFollowerError({
        fault: "closed",
        message: "The follower is closed. Repeat the call in another process.",
      }),
    );
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
  }

  async #update(reference: OrderReference): Promise<LookResult> {
    for (let tries = 0; tries < mostTries; tries += 1) {
      const lock = await this.#lock(reference);
      try {
        const found = await this.#handover.look(reference, lock);
        if (found !== undefined) return found;
      } finally {
        await lock.release();
      }
    }
    const message = `Other processes changed what is remembered of the order ${reference} ${mostTries} times in a row.`;
    throw new OrderFollowerError({ fault: "busy", message });
  }

  /** Waits until no other process hands over the order, at most `timeout` milliseconds. */
  async #lock(reference: OrderReference): Promise<OrderLock> {
    const { clock, timeout } = this.#settings;
    const deadline = clock.now() + timeout;
    for (;;) {
      const lock = await this.#records.lock(reference, "handing over");
      if (lock !== undefined) return lock;
      if (clock.now() + lockEvery > deadline) {
        const message = `Another process handles the order ${reference} for more than ${timeout} ms. Repeat the call later.`;
        throw new OrderFollowerError({ fault: "busy", message });
      }
      await new Promise<void>((resolve) => void clock.after(lockEvery, resolve));
    }
  }

  /** Runs work that `close` waits for. */
  async #during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#closing.signal.throwIfAborted();
    const running = work();
    this.#work.add(running);
    try {
      return await running;
    } finally {
      this.#work.delete(running);
    }
  }

  #sweepEvery(every: number): void {
    const { clock, onError } = this.#settings;
    const sweep = async () => {
      const began = clock.now();
      try {
        await this.reconcile({ unreadFor: every / 2 });
      } catch (error) {
        if (!this.#closing.signal.aborted)
          safely(
            () => onError(error),
            () => undefined,
          );
      }
      if (this.#closing.signal.aborted) return;
      this.#stopTimer = clock.after(Math.max(0, began + every - clock.now()), () => void sweep());
    };
    this.#stopTimer = clock.after(0, () => void sweep());
  }
}

function checkReference(reference: OrderReference): void {
  const message = referenceFault("Order", reference);
  if (message !== undefined) throw new RequestValidationError({ issues: [{ path: ["orderReference"], message }] });
}
