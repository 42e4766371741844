import { GoneError, NotFoundError } from "../errors/api.ts";
import { DeadlineError } from "../errors/connection.ts";
import { RequestValidationError, ResponseValidationError } from "../errors/validation.ts";
import { type OrderReference, referenceFault } from "../references/references.ts";
import type { Order } from "../resources/orders/orders.endpoints.ts";
import { check } from "../schemas/check.ts";
import { type Lock, repeat } from "../storage/lock.ts";
import { ScopedStorage } from "../storage/scoped-storage.ts";
import { eitherSignal } from "../util/abort-signals.ts";
import type { PartnerClock } from "../util/clock.ts";
import { attempt, safely } from "../util/foreign.ts";
import { lazily } from "../util/lazily.ts";
import { withTimeout } from "../util/with-timeout.ts";
import { OrderFollowerError, type OrderFollowerFault, type Reconciled } from "./errors.ts";
import { FollowerStorage, type Held, heldMark, type OpenMark, type OrderInStorage } from "./follower-storage.ts";
import {
  type FollowedOrderReader,
  type FollowerReadOptions,
  type FollowerSettings,
  type OrderFollowerOptions,
  type ReconcileOptions,
  resolveFollowerOptions,
  resolveReconcileOptions,
} from "./options.ts";
import {
  ageOf,
  begunState,
  changesSince,
  comparable,
  followedOrder,
  isClosed,
  type LookResult,
  type OrderState,
  type RememberedOrder,
  stateOf,
} from "./order-state.ts";
import { callHandler, deadlockHint, OrderQueue, refuseInHandler } from "./order-work.ts";
import { type IsDue, readingLifetime, type SweepParts, sweepOrders, type Visit } from "./sweep.ts";

/** Milliseconds between two attempts to lock an order. */
const lockInterval = 100;
/** How often one call locks an order again because it lost its lock, or another process was faster. */
const mostLocks = 5;
/** Milliseconds before each read of one look. After an outdated response, a cache or replica may be up to date a moment later. */
const readPauses = [0, 0, 1_000, 2_000];
/**
 * How many milliseconds the clock of the service may be ahead. A stored time further in the future does not count: either that clock or the
 * clock of this machine is wrong, and all later responses would look old.
 */
const mostAhead = 300_000;
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
  const follower = new Follower(resolveFollowerOptions(options));
  return {
    follow: (orderReference) => follower.follow(orderReference),
    update: (orderReference) => follower.update(orderReference),
    reconcile: (given) => follower.reconcile(given),
    close: () => follower.close(),
  };
}

/** What a response says, compared with what is stored. */
interface News {
  readonly found: LookResult;
  /** What to store; undefined if nothing is new. */
  readonly next?: RememberedOrder;
  /** Calls the function of the caller; undefined if there is nothing to hand over. */
  readonly handle?: (signal: AbortSignal) => unknown;
}

/** The mark that says that a sweep reads the order. Each renewal sets another one. */
interface SweepReading {
  mark: { readonly bytes: Uint8Array; readonly value: OpenMark };
  readonly renew: () => Promise<void>;
}

class Follower {
  readonly #settings: FollowerSettings;
  readonly #storage: FollowerStorage;
  readonly #updates: OrderQueue<LookResult | "late">;
  /** The name of this follower in what it stores. */
  readonly #self = crypto.randomUUID().slice(0, 8);
  /** For each order, the running call of a function of the caller. */
  readonly #handling = new Map<OrderReference, Promise<unknown>>();
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
    this.#updates = new OrderQueue({ clock, concurrency: Number.POSITIVE_INFINITY, maxWait: timeout, late: "late" });
    if (interval !== undefined) this.#sweepEvery(interval);
  }

  follow(reference: OrderReference): Promise<void> {
    return this.#untilClosed(async () => {
      checkReference(reference);
      const { order } = await this.#storage.load(reference);
      if (order.bytes !== undefined) return;
      const since = this.#settings.clock.now();
      await this.#storage.setMark(reference, { looked: 0, since }, absent);
    });
  }

  update(reference: OrderReference): Promise<LookResult> {
    return this.#untilClosed(async () => {
      checkReference(reference);
      refuseInHandler(this.#settings, "`update`", reference);
      const found = await this.#updates.run(reference, () => this.#lockAndLook(reference));
      if (found !== "late") return found;
      throw fault(
        "busy",
        `An earlier change of the order ${reference} is in work for more than ${this.#settings.timeout} ms. ${deadlockHint}`,
      );
    });
  }

  reconcile(options: ReconcileOptions = {}): Promise<Reconciled> {
    return this.#untilClosed(async () => {
      const settings = resolveReconcileOptions(options);
      refuseInHandler(this.#settings, "`reconcile`");
      const visit: SweepParts["visit"] = (...order) => this.#visit(...order);
      const parts = { storage: this.#storage, clock: this.#settings.clock, visit };
      return sweepOrders(parts, settings, eitherSignal(settings.signal, this.#closing.signal));
    });
  }

  async close(): Promise<void> {
    refuseInHandler(this.#settings, "`close` of the follower");
    this.#stopTimer();
    this.#closing.abort(fault("closed", "The follower is closed. Repeat the call in another process."));
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

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
   * if the lock was lost or another process has stored a state: then the order must be looked at once more.
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

  /** Reads an order, and says what is new. Resolves to undefined if the response is older than what was handed over, or was begun to be. */
  async #read(
    reference: OrderReference,
    stored: OrderInStorage,
    options: FollowerReadOptions,
  ): Promise<News | undefined> {
    const response = await readOrder(this.#settings.partner, reference, options);
    if (response.order === undefined) return this.#newsOfMissing(reference, stored, response.error);
    const { order, at } = response;
    const known = stored.order.value?.order ?? undefined;
    const now = await stateOf(order, at, this.#self);
    const begun = stored.mark.value?.begun;
    if ([begun, known].some((state) => state !== undefined && this.#isOlder(now, state))) return undefined;
    const changes = changesSince(known, begun, now, order);
    if (changes.length === 0 && stored.order.value?.gone === false) return { found: "unchanged" };
    const next: RememberedOrder = { v: 1, gone: false, order: now };
    if (changes.length === 0) return { found: "unchanged", next };
    const previous = known && followedOrder(known);
    return {
      found: "changed",
      next,
      handle: (signal) => this.#settings.onChange({ order, previous, changes, signal }),
    };
  }

  /** Where the quantities do not show it, the later `Date` wins. This follower sent its own requests one after the other. */
  #isOlder(now: OrderState, known: OrderState): boolean {
    const age = ageOf(now.lines, known.lines);
    if (age !== "same" || known.by === this.#self || now.at === 0) return age === "older";
    return now.at < known.at && known.at <= this.#settings.clock.now() + mostAhead;
  }

  /** What is new when the service does not have an order. */
  #newsOfMissing(
    orderReference: OrderReference,
    { order: { value: known }, mark }: OrderInStorage,
    error: unknown,
  ): News {
    if (known?.gone) return { found: "gone" };
    const since = mark.value?.since ?? 0;
    const isOverdue = mark.value !== undefined && this.#settings.clock.now() - since > invisibleFor;
    const wasFound = known !== undefined || mark.value?.begun !== undefined;
    if (!wasFound && !isOverdue) return { found: "missing" };
    const order = known?.order ?? null;
    const previous = order === null ? undefined : followedOrder(order);
    const handle = (signal: AbortSignal) => this.#settings.onGone({ orderReference, previous, error, signal });
    return { found: "gone", next: { v: 1, gone: true, order }, handle };
  }

  /**
   * Hands over and stores what a response says. Resolves to undefined if the lock was lost or another process has stored a state, or has
   * changed the mark that was `expected`.
   */
  async #handOver(
    reference: OrderReference,
    stored: OrderInStorage,
    { found, next, handle }: News,
    lock: Lock,
    expected?: Held<OpenMark>,
  ): Promise<LookResult | undefined> {
    if (handle !== undefined) {
      // The lock may have ended in the storage: calls of one process do not overlap in any case.
      await this.#handling.get(reference);
      if (!lock.isCertain) return undefined;
      if (!(await this.#markBegun(reference, stored, next, expected))) return undefined;
      // From here to the call there is no wait, so that a suspended process hands over nothing outdated.
      if (!lock.isCertain) return undefined;
      await this.#handle(reference, handle);
    }
    if (next !== undefined && !(await this.#storage.setOrder(reference, next, stored.order))) return undefined;
    if (handle !== undefined) await this.#markLooked(reference, stored, next, true);
    else if (!(await this.#markUnchanged(reference, stored, next, expected))) return undefined;
    return found;
  }

  /**
   * Notes the time of a look without news. Without that, a sweep that began to read the order meanwhile would hand over a response that may be
   * older than this one, so under the lock its mark is overwritten, too. Resolves to false if another process has looked.
   */
  async #markUnchanged(
    reference: OrderReference,
    stored: OrderInStorage,
    next: RememberedOrder | undefined,
    expected: Held<OpenMark> | undefined,
  ): Promise<boolean> {
    const before = withoutReading(stored.mark);
    for (let mark = stored.mark; withoutReading(mark) === before; mark = await this.#storage.mark(reference)) {
      if (await this.#markLooked(reference, { ...stored, mark }, next, false)) return true;
      if (expected !== undefined) return false;
    }
    return false;
  }

  async #handle(reference: OrderReference, handle: (signal: AbortSignal) => unknown): Promise<void> {
    const { clock, timeout } = this.#settings;
    const late = () =>
      new DeadlineError({
        message: `The change of the order ${reference} was not handled within ${timeout} ms (option \`timeout\` of the follower). ${deadlockHint}`,
      });
    const call = withTimeout(clock, timeout, late, (signal) =>
      callHandler(this.#settings, reference, signal, () => handle(signal)),
    );
    const ended = call.catch(() => undefined);
    this.#handling.set(reference, ended);
    try {
      await call;
    } finally {
      if (this.#handling.get(reference) === ended) this.#handling.delete(reference);
    }
  }

  /**
   * Notes what is handed over, for the case that the function of the caller fails. The first news of an order follows it. Resolves to false
   * if the mark is not the `expected` one.
   */
  async #markBegun(
    reference: OrderReference,
    { order, mark }: OrderInStorage,
    next: RememberedOrder | undefined,
    expected: Held<OpenMark> | undefined,
  ): Promise<boolean> {
    const { looked = 0, since = this.#settings.clock.now(), begun: earlier } = mark.value ?? {};
    const state = next?.gone === false ? next.order : null;
    const begun = state === null ? earlier : begunState(order.value?.order ?? undefined, earlier, state);
    const fields = order.value === undefined ? { looked, since, begun } : { looked, begun };
    return this.#storage.setMark(reference, fields, expected);
  }

  /**
   * Notes the time of a look. An order that is not open leaves the sweep; one that is not followed stays unknown. Resolves to false if another
   * call has changed the mark meanwhile: it may have begun a hand-over.
   */
  async #markLooked(
    reference: OrderReference,
    { order, mark }: OrderInStorage,
    next: RememberedOrder | undefined,
    handedOver: boolean,
  ): Promise<boolean> {
    const now = next ?? order.value;
    if (now === undefined && mark.value === undefined) return true;
    const expected = handedOver ? undefined : mark;
    if (now !== undefined && isClosed(now)) return this.#storage.deleteMark(reference, expected);
    const looked = this.#settings.clock.now();
    const fields = now === undefined ? { looked, since: mark.value?.since } : { looked };
    return this.#storage.setMark(reference, fields, expected);
  }

  /**
   * Looks at an order for a sweep. It reads without the lock, because its request can wait long: the mark says meanwhile that a sweep reads
   * the order. Another mark at the end says that another call has looked, and may have handed over something newer.
   */
  async #visit(reference: OrderReference, mark: Held<OpenMark>, isDue: IsDue, signal: AbortSignal): Promise<Visit> {
    const { looked = 0, since, begun, reading } = mark.value ?? {};
    const at = this.#settings.clock.now();
    if (reading !== undefined && reading.at > at - readingLifetime && reading.at < at + mostAhead) return "busy";
    const by = crypto.randomUUID();
    const own: SweepReading = {
      mark: heldMark({ looked, since, begun, reading: { by, at } }),
      renew: async () => {
        const renewed = heldMark({ looked, since, begun, reading: { by, at: this.#settings.clock.now() } });
        if (await this.#storage.setMark(reference, renewed.value, own.mark)) own.mark = renewed;
      },
    };
    let visit: Visit | undefined;
    try {
      const isOurs = await this.#storage.setMark(reference, own.mark.value, mark);
      if (isOurs) visit = await this.#readUnlocked(reference, mark, own, signal);
      if (visit !== undefined) return visit;
      const { value } = await this.#storage.mark(reference);
      return isDue(value?.looked) ? "busy" : "skipped";
    } finally {
      const isOver = typeof visit === "string" && visit !== "busy";
      // Also if the mark was not set in time: a slow storage can set it after this sweep has given up.
      if (!isOver) await this.#storage.setMark(reference, { looked, since, begun }, own.mark).catch(() => undefined);
    }
  }

  /** Resolves to undefined if another call has looked at the order meanwhile. */
  async #readUnlocked(
    reference: OrderReference,
    before: Held<OpenMark>,
    own: SweepReading,
    signal: AbortSignal,
  ): Promise<Visit | undefined> {
    const order = await this.#storage.order(reference);
    if (before.bytes === undefined && order.value !== undefined && isClosed(order.value)) {
      await this.#storage.deleteMark(reference, own.mark);
      return "skipped";
    }
    const read = () => this.#read(reference, { mark: own.mark, order }, { priority: "low", signal });
    const news = await this.#whileRenewing(own, read);
    const stored = { mark: own.mark, order };
    if (news !== undefined && news.next === undefined) {
      return (await this.#markLooked(reference, stored, undefined, false)) ? news.found : undefined;
    }
    const lock = await this.#storage.lock(reference);
    if (lock === undefined) return "busy";
    try {
      // After an outdated response, it is read again under the lock.
      if (news === undefined) return await this.#look(reference, lock);
      return await this.#handOver(reference, stored, news, lock, own.mark);
    } catch (failed) {
      return { failed };
    } finally {
      await lock.release();
    }
  }

  /** Renews the mark while a request waits, so that no other sweep reads the same order. No renewal is under way afterwards. */
  async #whileRenewing<Result>(own: SweepReading, read: () => Promise<Result>): Promise<Result> {
    let latest: Promise<unknown> = Promise.resolve();
    const stopRenewing = repeat(readingLifetime / 3, this.#settings.clock, () => {
      latest = own.renew();
      return latest;
    });
    try {
      return await read();
    } finally {
      stopRenewing();
      await latest.catch(() => undefined);
    }
  }

  #sweepEvery(interval: number): void {
    const { clock, onError } = this.#settings;
    const isClosing = () => this.#closing.signal.aborted;
    const sweep = async () => {
      const began = clock.now();
      await this.reconcile({ unreadFor: interval / 2 }).catch((error: unknown) => {
        if (!isClosing())
          safely(
            () => onError(error),
            () => undefined,
          );
      });
      if (!isClosing()) this.#stopTimer = clock.after(Math.max(0, began + interval - clock.now()), () => void sweep());
    };
    this.#stopTimer = clock.after(0, () => void sweep());
  }

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
}

/** What a mark says apart from the sweep that reads the order. */
const withoutReading = ({ value }: Held<OpenMark>): string => JSON.stringify({ ...value, reading: undefined });

/** The key must hold nothing. */
const absent = { bytes: undefined, value: undefined };

const fault = (kind: OrderFollowerFault, message: string) => new OrderFollowerError({ fault: kind, message });

const sleep = (clock: PartnerClock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.after(ms, resolve));

function checkReference(reference: OrderReference): void {
  const message = referenceFault("Order", reference);
  if (message !== undefined) throw new RequestValidationError({ issues: [{ path: ["orderReference"], message }] });
}

/**
 * Whether the service itself says that the order does not exist. Its errors have a code (specification 7); the 404 of a gateway or of a
 * wrong base URL has none, and then the order may well exist.
 */
export const saysGone = (error: unknown): boolean =>
  (NotFoundError.isInstance(error) || GoneError.isInstance(error)) && error.code !== undefined;

/** What the service said about an order: the order with the service's time of the response (0 if it sent none), or why it has none. */
type ReadOrder =
  | { readonly order: Order; readonly at: number }
  | { readonly order: undefined; readonly error: unknown };

/** Reads an order. Rejects if it was not read. That the service does not have it is a result, too. */
async function readOrder(
  partner: FollowedOrderReader,
  reference: OrderReference,
  options: FollowerReadOptions,
): Promise<ReadOrder> {
  try {
    const { data: order, response } = await partner.orders.get(reference, options).withResponse();
    assertComparable(order);
    const at = Date.parse(attempt(() => response.headers.get("date")) ?? "");
    return { order, at: Number.isFinite(at) ? at : 0 };
  } catch (error) {
    if (!saysGone(error)) throw error;
    return { order: undefined, error };
  }
}

/** A client with `responses: "report"` returns orders that break their schema. Without quantities, an order would look completed. */
function assertComparable(order: Order): void {
  const checked = check(comparable, order, ["order"]);
  if (checked.ok) return;
  const response = { status: 200, headers: {}, body: undefined };
  throw new ResponseValidationError({ issues: checked.issues, response, endpoint: "GET /orders/{orderReference}" });
}
