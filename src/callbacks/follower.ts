import { DeadlineError } from "../errors/connection.ts";
import { RequestValidationError, ResponseValidationError } from "../errors/validation.ts";
import { type OrderReference, referenceFault } from "../references/references.ts";
import type { Order } from "../resources/orders/orders.endpoints.ts";
import { check } from "../schemas/check.ts";
import type { Lock } from "../storage/lock.ts";
import { ScopedStorage } from "../storage/scoped-storage.ts";
import { eitherSignal } from "../util/abort-signals.ts";
import type { PartnerClock } from "../util/clock.ts";
import { KeyedMutex } from "../util/concurrency.ts";
import { safely } from "../util/foreign.ts";
import { lazily } from "../util/lazily.ts";
import { withTimeout } from "../util/with-timeout.ts";
import { OrderFollowerError, type OrderFollowerFault, type Reconciled, saysGone } from "./errors.ts";
import { FollowerStorage, type OpenMark, type Stored, type StoredOrder } from "./follower-storage.ts";
import {
  type FollowerReadOptions,
  type FollowerSettings,
  type OrderFollowerOptions,
  type ReconcileOptions,
  resolveFollowerOptions,
  resolveReconcileOptions,
} from "./options.ts";
import {
  begunState,
  changesSince,
  comparable,
  followedOrder,
  isClosed,
  isOlder,
  type LookResult,
  type OrderState,
  type RememberedOrder,
  stateOf,
} from "./order-state.ts";
import { callHandler, deadlockHint, OrderQueue, refuseInHandler } from "./order-work.ts";
import { type IsDue, sweepOrders, type Visit } from "./sweep.ts";

/** Milliseconds between two attempts to lock an order. */
const lockInterval = 100;
/** How often one call locks an order again because it lost its lock, or another process was faster. */
const mostLocks = 5;
/** Milliseconds before each read of one look. After an outdated response, a cache or replica may be up to date a moment later. */
const readPauses = [0, 0, 1_000, 2_000];
/** Milliseconds for which the service may not know an order that was just placed. */
const invisibleFor = 3_600_000;

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
 * const receiver = createOrderUpdatedReceiver({ follower, token: "4f1c0a8b5d7e", environment: "prod" });
 */
export function createOrderFollower(options: OrderFollowerOptions): OrderFollower {
  return new Follower(resolveFollowerOptions(options));
}

/** What a response says, compared with what is stored. */
interface News {
  readonly found: LookResult;
  /** What to store; undefined if nothing is new. */
  readonly next?: RememberedOrder;
  /** Hands it over: calls the function of the caller. Undefined if there is nothing to hand over. */
  readonly call?: (signal: AbortSignal) => unknown;
  /** What the mark notes meanwhile, for the case that the function of the caller fails. */
  readonly begun?: OrderState | undefined;
}

class Follower implements OrderFollower {
  readonly #settings: FollowerSettings;
  readonly #storage: FollowerStorage;
  readonly #updates: OrderQueue<LookResult>;
  /** The name of this follower in what it stores. */
  readonly #self = crypto.randomUUID().slice(0, 8);
  /** Lets the calls of the caller's functions for one order follow each other, also when a lock has ended in the storage. */
  readonly #handlers = new KeyedMutex();
  /** The calls that `close` waits for. */
  readonly #running = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  #stopTimer: () => void = () => undefined;

  constructor(settings: FollowerSettings) {
    const { partner, storage, clock, timeout, interval, keepFor } = settings;
    const scoped = lazily(async () => new ScopedStorage(storage, await partner["~scopeOf"](storage)));
    this.#settings = settings;
    this.#storage = new FollowerStorage(scoped, clock, keepFor);
    // The callers limit how many orders they update at a time.
    this.#updates = new OrderQueue({ clock, concurrency: Number.POSITIVE_INFINITY, maxWait: timeout });
    if (interval !== undefined) this.#stopTimer = clock.after(0, () => void this.#sweepEvery(interval));
  }

  readonly follow = (reference: OrderReference): Promise<void> =>
    this.#untilClosed(async () => {
      checkReference(reference);
      const { order, mark } = await this.#storage.load(reference);
      if (order.bytes !== undefined || mark.bytes !== undefined) return;
      await this.#storage.setMark(reference, { looked: 0, since: this.#settings.clock.now() }, mark);
    });

  readonly update = (reference: OrderReference): Promise<LookResult> =>
    this.#untilClosed(async () => {
      checkReference(reference);
      refuseInHandler(this, "`update`", reference);
      const message = `An earlier change of the order ${reference} is in work for more than ${this.#settings.timeout} ms. ${deadlockHint}`;
      const late = () => Promise.reject(fault("busy", message));
      return this.#updates.run(reference, () => this.#lockAndLook(reference), late);
    });

  readonly reconcile = (options: ReconcileOptions = {}): Promise<Reconciled> =>
    this.#untilClosed(async () => {
      const settings = resolveReconcileOptions(options);
      refuseInHandler(this, "`reconcile`");
      const signal = eitherSignal(settings.signal, this.#closing.signal);
      const visit = this.#visit.bind(this);
      return sweepOrders(this.#storage, this.#settings.clock, { ...settings, signal }, visit);
    });

  readonly close = async (): Promise<void> => {
    refuseInHandler(this, "`close` of the follower");
    this.#stopTimer();
    this.#closing.abort(fault("closed", "The follower is closed. Repeat the call in another process."));
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  };

  /** Runs work that `close` waits for. */
  async #untilClosed<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#closing.signal.throwIfAborted();
    const running = work();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Sweeps now and once in each period, until the follower is closed. */
  async #sweepEvery(interval: number): Promise<void> {
    const { clock, onError } = this.#settings;
    const next = clock.now() + interval;
    try {
      await this.reconcile({ unreadFor: interval / 2 });
    } catch (error) {
      if (!this.#closing.signal.aborted) safely(() => onError(error));
    }
    if (this.#closing.signal.aborted) return;
    this.#stopTimer = clock.after(Math.max(0, next - clock.now()), () => void this.#sweepEvery(interval));
  }

  /** Looks at an order under its lock, and once more if the lock was lost or another call was faster. */
  async #lockAndLook(reference: OrderReference): Promise<LookResult> {
    for (let locks = 0; locks < mostLocks; locks += 1) {
      const lock = await this.#lock(reference);
      try {
        const found = await this.#look(reference, lock);
        if (found !== undefined) return found;
      } finally {
        await lock.release();
      }
    }
    throw fault(
      "busy",
      `The order ${reference} was locked ${mostLocks} times, and each time the lock ended early or another process changed what is stored: the storage is slow, or this process was suspended. Repeat the call later.`,
    );
  }

  /** Waits until no other process hands over the order, at most `timeout` milliseconds. */
  async #lock(reference: OrderReference): Promise<Lock> {
    const { clock, timeout } = this.#settings;
    const deadline = clock.now() + timeout;
    for (;;) {
      const lock = await this.#storage.lock(reference);
      if (lock !== undefined) return lock;
      if (clock.now() + lockInterval > deadline) {
        throw fault(
          "busy",
          `Another process handles the order ${reference} for more than ${timeout} ms. Repeat the call later.`,
        );
      }
      await sleep(clock, lockInterval);
    }
  }

  /**
   * Looks at a locked order: reads it, compares it with what is stored, hands over what is new, and only then stores it. Resolves to undefined
   * if the lock was lost or another call has looked meanwhile: then the order must be looked at once more.
   *
   * @throws {@link OrderFollowerError} if each response is older than what was handed over: the caller must not acknowledge a callback.
   */
  async #look(reference: OrderReference, lock: Lock): Promise<LookResult | undefined> {
    const { clock, timeout } = this.#settings;
    for (const pause of readPauses) {
      if (pause > 0) await sleep(clock, pause);
      const stored = await this.#storage.load(reference);
      const news = await this.#read(reference, stored, { priority: "high", deadline: timeout });
      if (news !== undefined) return this.#handOver(reference, stored, news, lock);
    }
    throw fault(
      "outdated",
      `The service returned an order ${reference} that is older than what was handed over, ${readPauses.length} times in a row. Repeat the call later.`,
    );
  }

  /**
   * Looks at an order for a sweep. Its request can wait long in the queue of the client, so it is sent without the lock of the order, which
   * an update may take meanwhile. Then the mark is another one, and the response is dropped.
   */
  async #visit(reference: OrderReference, isDue: IsDue, signal: AbortSignal): Promise<Visit> {
    const reading = await this.#storage.lockReading(reference);
    if (reading === undefined) return "busy";
    try {
      const stored = await this.#storage.load(reference);
      const { order, mark } = stored;
      const isCompleted = mark.bytes === undefined && order.value !== undefined && isClosed(order.value);
      if (isCompleted || !isDue(mark.value?.looked)) return "skipped";
      const news = await this.#read(reference, stored, { priority: "low", signal });
      const lock = await this.#storage.lock(reference);
      if (lock === undefined) return "busy";
      try {
        // After an outdated response, it is read again under the lock.
        const look = news === undefined ? this.#look(reference, lock) : this.#handOver(reference, stored, news, lock);
        const found = await look;
        if (found !== undefined) return found;
      } catch (failed) {
        return { failed };
      } finally {
        await lock.release();
      }
      const { value } = await this.#storage.mark(reference);
      return isDue(value?.looked) ? "busy" : "skipped";
    } finally {
      await reading.release();
    }
  }

  /** Reads an order, and says what is new. Resolves to undefined if the response is older than what was handed over, or was begun to be. */
  async #read(reference: OrderReference, stored: StoredOrder, options: FollowerReadOptions): Promise<News | undefined> {
    try {
      const { data, response } = await this.#settings.partner.orders.get(reference, options).withResponse();
      return await this.#newsOf(data, response.headers.get("date"), stored);
    } catch (error) {
      if (!saysGone(error)) throw error;
      return this.#newsOfMissing(reference, stored, error);
    }
  }

  async #newsOf(order: Order, date: string | null, stored: StoredOrder): Promise<News | undefined> {
    assertComparable(order);
    const { clock, onChange } = this.#settings;
    const now = await stateOf(order, date, this.#self);
    const known = stored.order.value?.order ?? undefined;
    const begun = stored.mark.value?.begun;
    const time = clock.now();
    if ([begun, known].some((state) => state && isOlder(now, state, time))) return undefined;
    const changes = changesSince(known, begun, now, order);
    if (changes.length === 0 && stored.order.value?.gone === false) return { found: "unchanged" };
    const next: RememberedOrder = { v: 1, gone: false, order: now };
    if (changes.length === 0) return { found: "unchanged", next };
    const previous = followedOrder(known);
    const call = (signal: AbortSignal) => onChange({ order, previous, changes, signal });
    return { found: "changed", next, call, begun: begunState(known, begun, now) };
  }

  /** What is new when the service does not have an order. */
  #newsOfMissing(
    orderReference: OrderReference,
    { order: { value: known }, mark: { value: mark } }: StoredOrder,
    error: unknown,
  ): News {
    if (known?.gone) return { found: "gone" };
    const isOverdue = mark !== undefined && this.#settings.clock.now() - (mark.since ?? 0) > invisibleFor;
    const wasFound = known !== undefined || mark?.begun !== undefined;
    if (!wasFound && !isOverdue) return { found: "missing" };
    const order = known?.order ?? null;
    const previous = followedOrder(order);
    const call = (signal: AbortSignal) => this.#settings.onGone({ orderReference, previous, error, signal });
    return { found: "gone", next: { v: 1, gone: true, order }, call, begun: mark?.begun };
  }

  /**
   * Hands over and stores what a response says, and notes the time of the look. Resolves to undefined if the lock was lost or another call
   * has looked since `stored` was loaded.
   */
  async #handOver(
    reference: OrderReference,
    stored: StoredOrder,
    news: News,
    lock: Lock,
  ): Promise<LookResult | undefined> {
    const { found, next, call } = news;
    const noteAndCall = () => this.#noteAndCall(reference, stored, news, lock);
    const mark = call === undefined ? stored.mark : await this.#handlers.take(reference, noteAndCall);
    if (mark === undefined) return undefined;
    if (next !== undefined && !(await this.#storage.setOrder(reference, next, stored.order))) return undefined;
    return (await this.#markLooked(reference, mark, next ?? stored.order.value)) ? found : undefined;
  }

  /**
   * Notes in the mark what is handed over, and calls the function of the caller. The first news of an order follows it. Resolves to the
   * mark, or to undefined if nothing was handed over because the lock was lost or another call has looked.
   */
  async #noteAndCall(
    reference: OrderReference,
    { order, mark }: StoredOrder,
    { begun, call }: News,
    lock: Lock,
  ): Promise<Stored<OpenMark> | undefined> {
    const { clock, timeout } = this.#settings;
    const { looked = 0, since = clock.now() } = mark.value ?? {};
    const fields = order.value === undefined ? { looked, since, begun } : { looked, begun };
    const noted = await this.#storage.setMark(reference, fields, mark);
    // From here to the call there is no wait, so that a suspended process hands over nothing outdated.
    if (noted === undefined || !lock.isCertain) return undefined;
    const message = `The change of the order ${reference} was not handled within ${timeout} ms (option \`timeout\` of the follower). ${deadlockHint}`;
    const late = () => new DeadlineError({ message });
    await withTimeout(clock, timeout, late, (signal) => callHandler(this, reference, signal, () => call?.(signal)));
    return noted;
  }

  /**
   * Notes the time of a look. An order that is not open leaves the sweep; one that is not followed stays unknown. Resolves to false if another
   * call has changed the mark: it may have begun a hand-over.
   */
  async #markLooked(
    reference: OrderReference,
    mark: Stored<OpenMark>,
    now: RememberedOrder | undefined,
  ): Promise<boolean> {
    if (now === undefined && mark.value === undefined) return true;
    if (now !== undefined && isClosed(now)) return this.#storage.deleteMark(reference, mark);
    const looked = this.#settings.clock.now();
    const fields = now === undefined ? { looked, since: mark.value?.since } : { looked };
    return (await this.#storage.setMark(reference, fields, mark)) !== undefined;
  }
}

const fault = (kind: OrderFollowerFault, message: string) => new OrderFollowerError({ fault: kind, message });

const sleep = (clock: PartnerClock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.after(ms, resolve));

function checkReference(reference: OrderReference): void {
  const message = referenceFault("Order", reference);
  if (message !== undefined) throw new RequestValidationError({ issues: [{ path: ["orderReference"], message }] });
}

/** A client with `responses: "report"` returns orders that break their schema. Without quantities, an order would look completed. */
function assertComparable(order: Order): void {
  const checked = check(comparable, order, ["order"]);
  if (checked.ok) return;
  const response = { status: 200, headers: {}, body: undefined };
  throw new ResponseValidationError({ issues: checked.issues, response, endpoint: "GET /orders/{orderReference}" });
}
