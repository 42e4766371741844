import { isConfirmedMissing } from "../errors/api.ts";
import { DeadlineError } from "../errors/connection.ts";
import { ResponseValidationError } from "../errors/validation.ts";
import type { OrderReference } from "../references/references.ts";
import type { Order } from "../resources/orders/orders.endpoints.ts";
import { check } from "../schemas/check.ts";
import { type Lock, waitForLock } from "../storage/lock.ts";
import { abortController, held } from "../util/abort-signals.ts";
import { dateOf, momentOf } from "../util/clock.ts";
import { webCrypto } from "../util/runtime.ts";
import { withTimeout } from "../util/with-timeout.ts";
import { deadlockHint, fault } from "./errors.ts";
import type { FollowerStorage, OpenMark, OrderRecords, Stored } from "./follower-storage.ts";
import type { FollowerReadOptions, FollowerSettings } from "./options.ts";
import {
  begunState,
  changesSince,
  comparable,
  followedOrder,
  invisibleFor,
  isClosed,
  isOlder,
  type LookResult,
  type OrderState,
  type RememberedOrder,
  stateOf,
} from "./order-state.ts";

/** How often one `update` starts again because it lost its lock or another call was faster. */
const maxTurns = 5;
/**
 * Milliseconds before each read of a check. If a response is outdated, or the service no longer has the order, a cache or replica may have
 * caught up a moment later. The pauses of an update are shorter if its `timeout` is.
 */
const updatePauses = [0, 0, 1_000, 2_000];
const sweepPauses = [0, 1_000];
const defaultTimeout = 10_000;
/** Milliseconds that a sweep waits for one response. Its requests have low priority and can queue for minutes. */
const sweepDeadline = 300_000;

/** Whether a sweep should check an order that was last checked at a time. */
export type IsDue = (looked: number | undefined) => boolean;

/**
 * What became of an order in a sweep: the result of its check, `failed` if its change was not handed over, `skipped` if another call has checked
 * it, `locked` if another call is working on it.
 */
export type SweepResult = LookResult | "skipped" | "locked" | { readonly failed: unknown };

/** What a response says, compared with what is stored. */
interface News {
  readonly found: LookResult;
  /** The state to store; undefined if nothing is new. */
  readonly next?: RememberedOrder;
  /** Calls the handler; undefined if there is nothing to hand over. */
  readonly call?: (signal: AbortSignal) => unknown;
  /** The state to keep in the mark until the handler has finished. */
  readonly begun?: OrderState | undefined;
}

/** True if the order has just disappeared from the service. */
const saysGone = ({ found, call }: News): boolean => found === "gone" && call !== undefined;

/**
 * Makes the two checks of an order, for `update` and for a sweep. A check loads what is stored, reads the order, and compares the two. If there
 * is news, it notes this in the mark, calls the handler, stores the state and replaces the mark, in this order: a process may be killed
 * between any two steps. Each step is a compare-and-set on what the check has loaded or written before.
 */
export function createOrderChecks(settings: FollowerSettings, storage: FollowerStorage) {
  const { partner, clock, timeout, onChange, onGone } = settings;
  /** Identifies this follower in the states that it stores. */
  const self = webCrypto().randomUUID().slice(0, 8);
  const started = momentOf(clock);
  const scale = Math.min(1, timeout / defaultTimeout);
  const pausesOfUpdate = updatePauses.map((pause) => pause * scale);
  const never = abortController().signal;
  /** Updates that wait for the lock of their order. */
  const waiting = new Map<OrderReference, Promise<LookResult>>();
  /** Orders whose handler is running in this process. They count as locked even if their lock has expired in the storage. */
  const handling = new Set<OrderReference>();

  /** Checks an order now. Calls that wait for its lock at the same time share one check. */
  function update(reference: OrderReference): Promise<LookResult> {
    const result = waiting.get(reference) ?? lockAndCheck(reference);
    waiting.set(reference, result);
    return result;
  }

  async function lockAndCheck(reference: OrderReference): Promise<LookResult> {
    for (let turn = 0; turn < maxTurns; turn += 1) {
      // From now on the read may be too early for a new caller.
      const lock = await lockInTurn(reference).finally(() => waiting.delete(reference));
      try {
        const stored = await storage.load(reference);
        const options: FollowerReadOptions = { priority: "high", deadline: timeout };
        const news = await findNews(reference, stored, options, pausesOfUpdate);
        // A callback reports a change. If the response has none it may be too old, so the next sweep checks the order in any case.
        const found = await handOver(reference, stored, news, lock, news.next === undefined ? 0 : dateOf(clock));
        if (found !== undefined) return found;
      } finally {
        await lock.release();
      }
    }
    throw fault(
      "busy",
      `The order ${reference} was locked ${maxTurns} times, and each time the lock expired or another process changed the stored state. The storage is slow, or this process was suspended. Repeat the call later.`,
    );
  }

  async function lockInTurn(reference: OrderReference): Promise<Lock> {
    const take = () => tryLock(reference);
    const late = () =>
      fault("busy", `The order ${reference} was locked by another call for ${timeout} ms. ${deadlockHint}`);
    return (await take()) ?? (await waitForLock(take, undefined, { clock, limit: { ms: timeout, late } }));
  }

  const tryLock = async (reference: OrderReference): Promise<Lock | undefined> =>
    handling.has(reference) ? undefined : storage.lock(reference);

  /**
   * Checks an order in a sweep, unless another call is working on it or has checked it. The request can wait in the client's queue for
   * minutes, so an update may take the lock away. The mark shows this, and the response is dropped.
   */
  async function checkInSweep(reference: OrderReference, isDue: IsDue, signal: AbortSignal): Promise<SweepResult> {
    const reading = handling.has(reference) ? undefined : await storage.lockForSweep(reference);
    if (reading === undefined) return "locked";
    try {
      const stored = await storage.load(reference);
      const { order, mark } = stored;
      const isCompleted = mark.bytes === undefined && order.value !== undefined && isClosed(order.value);
      if (isCompleted || !isDue(mark.value?.looked)) return "skipped";
      const options: FollowerReadOptions = { priority: "low", deadline: sweepDeadline, signal };
      const news = await findNews(reference, stored, options, sweepPauses);
      const lock = news.call && (await tryLock(reference));
      try {
        const found = await handOver(reference, stored, news, lock);
        if (found !== undefined) return found;
      } catch (failed) {
        return { failed };
      } finally {
        await lock?.release();
      }
      const { value } = await storage.mark(reference);
      return isDue(value?.looked) ? "locked" : "skipped";
    } finally {
      await reading.release();
    }
  }

  /**
   * Reads an order, again after each pause while the response is older than what was handed over or the order has disappeared.
   *
   * @throws {@link OrderFollowerError} if the last response is older: the caller must not acknowledge a callback.
   */
  async function findNews(
    reference: OrderReference,
    stored: OrderRecords,
    options: FollowerReadOptions,
    pauses: readonly number[],
  ): Promise<News> {
    let news: News | undefined;
    for (const pause of pauses) {
      if (pause > 0) await held<void>(options.signal ?? never, (resolve) => clock.after(pause, resolve));
      news = await readNews(reference, stored, options);
      if (news !== undefined && !saysGone(news)) break;
    }
    if (news !== undefined) return news;
    throw fault(
      "outdated",
      `The service returned an order ${reference} that is older than what was handed over, ${pauses.length} times in a row. Repeat the call later.`,
    );
  }

  /** Resolves to undefined if the response is older than a state that was handed over, or that a handler was called with. */
  async function readNews(
    reference: OrderReference,
    stored: OrderRecords,
    options: FollowerReadOptions,
  ): Promise<News | undefined> {
    try {
      const { data, response } = await partner.orders.get(reference, options).withResponse();
      return await newsOf(data, response.headers.get("date"), stored);
    } catch (error) {
      if (!isConfirmedMissing(error)) throw error;
      return newsOfMissing(reference, stored, error);
    }
  }

  async function newsOf(order: Order, date: string | null, stored: OrderRecords): Promise<News | undefined> {
    assertComparable(order);
    const now = await stateOf(order, date, self);
    const known = stored.order.value?.order ?? undefined;
    const begun = stored.mark.value?.begun;
    const time = dateOf(clock);
    if ([begun, known].some((state) => state && isOlder(now, state, time))) return undefined;
    const changes = changesSince(known, begun, now, order);
    if (changes.length === 0 && stored.order.value?.gone === false) return { found: "unchanged" };
    const next: RememberedOrder = { v: 1, gone: false, order: now };
    if (changes.length === 0) return { found: "unchanged", next };
    const previous = followedOrder(known);
    const call = (signal: AbortSignal) => onChange({ order, previous, changes, signal });
    return { found: "changed", next, call, begun: begunState(known, begun, now) };
  }

  function newsOfMissing(
    orderReference: OrderReference,
    { order: { value: known }, mark: { value: mark } }: OrderRecords,
    error: unknown,
  ): News {
    if (known?.gone) return { found: "gone" };
    // The machine's clock can step forward. Then the time since the start of this process counts.
    const date = Math.min(dateOf(clock), started.date + clock.now() - started.at);
    const isOverdue = mark !== undefined && date - (mark.since ?? 0) > invisibleFor;
    const wasFound = known !== undefined || mark?.begun !== undefined;
    if (!wasFound && !isOverdue) return { found: "missing" };
    const order = known?.order ?? null;
    const previous = followedOrder(order);
    const call = (signal: AbortSignal) => onGone({ orderReference, previous, error, signal });
    return { found: "gone", next: { v: 1, gone: true, order }, call, begun: mark?.begun };
  }

  /**
   * Calls the handler if there is something to hand over, stores the state, and records the time of the check in the mark. Resolves to undefined
   * if the order is not locked, or if another call has checked it since `stored` was loaded.
   *
   * @param looked The time to record.
   */
  async function handOver(
    reference: OrderReference,
    stored: OrderRecords,
    news: News,
    lock: Lock | undefined,
    looked = dateOf(clock),
  ): Promise<LookResult | undefined> {
    const { found, next } = news;
    const mark = news.call === undefined ? stored.mark : await callHandler(reference, stored, news, lock);
    if (mark === undefined) return undefined;
    if (next !== undefined && !(await storage.setOrder(reference, next, stored.order))) return undefined;
    return (await recordCheck(reference, mark, next ?? stored.order.value, looked)) ? found : undefined;
  }

  /** Notes the hand-over in the mark and calls the handler. Resolves to the new mark, or to undefined if the handler was not called. */
  async function callHandler(
    reference: OrderReference,
    { mark }: OrderRecords,
    { begun, call }: News,
    lock: Lock | undefined,
  ): Promise<Stored<OpenMark> | undefined> {
    if (lock === undefined) return undefined;
    const { looked = 0, since = dateOf(clock) } = mark.value ?? {};
    // The first news of an order follows it.
    const noted = await storage.setMark(reference, { looked, since, begun }, mark);
    // Nothing is awaited between this check and the call. A process that was suspended before it hands over nothing outdated.
    if (noted === undefined || !lock.isCertain) return undefined;
    const message = `The change of the order ${reference} was not handled within ${timeout} ms (option \`timeout\` of the follower). ${deadlockHint}`;
    handling.add(reference);
    try {
      await withTimeout(
        clock,
        timeout,
        () => new DeadlineError({ message }),
        async (signal) => call?.(signal),
      );
    } finally {
      handling.delete(reference);
    }
    return noted;
  }

  /**
   * Records the time of a check in the mark. A closed order loses its mark, so sweeps no longer check it. An order that is not followed gets none.
   * Resolves to false if another call has changed the mark.
   */
  async function recordCheck(
    reference: OrderReference,
    mark: Stored<OpenMark>,
    now: RememberedOrder | undefined,
    looked: number,
  ): Promise<boolean> {
    if (now === undefined && mark.value === undefined) return true;
    if (now !== undefined && isClosed(now)) return storage.deleteMark(reference, mark);
    return (await storage.setMark(reference, { looked, since: mark.value?.since }, mark)) !== undefined;
  }

  return { update, checkInSweep };
}

/** `partner` may be any object with `orders.get`. An order without quantities would look completed. */
function assertComparable(order: Order): void {
  const checked = check(comparable, order, ["order"]);
  if (checked.ok) return;
  const response = { status: 200, headers: {}, body: undefined };
  throw new ResponseValidationError({ issues: checked.issues, response, endpoint: "GET /orders/{orderReference}" });
}
