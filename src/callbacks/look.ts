import { saysMissing } from "../errors/api.ts";
import { DeadlineError } from "../errors/connection.ts";
import { ResponseValidationError } from "../errors/validation.ts";
import type { OrderReference } from "../references/references.ts";
import type { Order } from "../resources/orders/orders.endpoints.ts";
import { check } from "../schemas/check.ts";
import type { Lock } from "../storage/lock.ts";
import { held } from "../util/abort-signals.ts";
import { dateOf, type PartnerClock } from "../util/clock.ts";
import { KeyedMutex } from "../util/concurrency.ts";
import { webCrypto } from "../util/runtime.ts";
import { withTimeout } from "../util/with-timeout.ts";
import { fault } from "./errors.ts";
import type { FollowerStorage, OpenMark, Stored, StoredOrder } from "./follower-storage.ts";
import type { FollowerReadOptions, FollowerSettings } from "./options.ts";
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
import { callHandler, deadlockHint } from "./order-work.ts";
import type { IsDue, Visit } from "./sweep.ts";

/** Milliseconds between two attempts to lock an order. */
const lockInterval = 100;
/** How often one call locks an order again because it lost its lock, or another process was faster. */
const mostLocks = 5;
/**
 * Milliseconds before each read of one look. After an outdated response, or a 404 for an order that was found before, a cache or replica may
 * be up to date a moment later.
 */
const readPauses = [0, 0, 1_000, 2_000];
/** Milliseconds after which a sweep reads an order again that was found before and is missing now. */
const readAgainAfter = 1_000;
/** Milliseconds for which the service may not know an order that was just placed. */
const invisibleFor = 3_600_000;

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

/** Whether it is new that the service does not have an order. */
const saysGone = ({ found, call }: News): boolean => found === "gone" && call !== undefined;

/**
 * Makes the two ways to look at an order. Each loads what is stored, reads the order, and compares them. What is new is handed over under
 * the lock of the order, in steps that a kill may come between: the mark notes it, the function of the caller is called, the order is
 * stored, and the mark notes the time. Each step expects what the one before has stored. `settings` is what the handlers of one follower
 * have in common: a call that waits for them is refused by it.
 */
export function createLooks(settings: FollowerSettings, records: FollowerStorage) {
  const { partner, clock, timeout, onChange, onGone } = settings;
  /** The name of this follower in what it stores. */
  const self = webCrypto().randomUUID().slice(0, 8);
  /** Lets the calls of the caller's functions for one order follow each other, also when a lock has ended in the storage. */
  const handlers = new KeyedMutex();

  /** Looks at an order under its lock, and once more if the lock was lost or another call was faster. */
  async function lockAndLook(reference: OrderReference): Promise<LookResult> {
    for (let locks = 0; locks < mostLocks; locks += 1) {
      const lock = await lockOrder(reference);
      try {
        const found = await look(reference, lock);
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
  async function lockOrder(reference: OrderReference): Promise<Lock> {
    const deadline = clock.now() + timeout;
    for (;;) {
      const lock = await records.lock(reference);
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
  async function look(reference: OrderReference, lock: Lock): Promise<LookResult | undefined> {
    for (const [index, pause] of readPauses.entries()) {
      if (pause > 0) await sleep(clock, pause);
      const stored = await records.load(reference);
      const news = await read(reference, stored, { priority: "high", deadline: timeout });
      if (news === undefined || (saysGone(news) && index < readPauses.length - 1)) continue;
      // A callback says that the order changed. A response without news may be too old: the next sweep reads the order in any case.
      return handOver(reference, stored, news, lock, news.next === undefined ? 0 : dateOf(clock));
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
  async function visit(reference: OrderReference, isDue: IsDue, signal: AbortSignal): Promise<Visit> {
    const reader = await records.lockReading(reference);
    if (reader === undefined) return "busy";
    try {
      const stored = await records.load(reference);
      const { order, mark } = stored;
      const isCompleted = mark.bytes === undefined && order.value !== undefined && isClosed(order.value);
      if (isCompleted || !isDue(mark.value?.looked)) return "skipped";
      const reading = () => read(reference, stored, { priority: "low", signal });
      let news = await reading();
      if (news !== undefined && saysGone(news)) {
        await held<void>(signal, (resolve) => clock.after(readAgainAfter, () => resolve()));
        news = await reading();
      }
      const lock = await records.lock(reference);
      if (lock === undefined) return "busy";
      try {
        // After an outdated response, it is read again under the lock.
        const found = await (news === undefined ? look(reference, lock) : handOver(reference, stored, news, lock));
        if (found !== undefined) return found;
      } catch (failed) {
        return { failed };
      } finally {
        await lock.release();
      }
      const { value } = await records.mark(reference);
      return isDue(value?.looked) ? "busy" : "skipped";
    } finally {
      await reader.release();
    }
  }

  /** Reads an order, and says what is new. Resolves to undefined if the response is older than what was handed over, or was begun to be. */
  async function read(
    reference: OrderReference,
    stored: StoredOrder,
    options: FollowerReadOptions,
  ): Promise<News | undefined> {
    try {
      const { data, response } = await partner.orders.get(reference, options).withResponse();
      return await newsOf(data, response.headers.get("date"), stored);
    } catch (error) {
      if (!saysMissing(error)) throw error;
      return newsOfMissing(reference, stored, error);
    }
  }

  async function newsOf(order: Order, date: string | null, stored: StoredOrder): Promise<News | undefined> {
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

  /** What is new when the service does not have an order. */
  function newsOfMissing(
    orderReference: OrderReference,
    { order: { value: known }, mark: { value: mark } }: StoredOrder,
    error: unknown,
  ): News {
    if (known?.gone) return { found: "gone" };
    const isOverdue = mark !== undefined && dateOf(clock) - (mark.since ?? 0) > invisibleFor;
    const wasFound = known !== undefined || mark?.begun !== undefined;
    if (!wasFound && !isOverdue) return { found: "missing" };
    const order = known?.order ?? null;
    const previous = followedOrder(order);
    const call = (signal: AbortSignal) => onGone({ orderReference, previous, error, signal });
    return { found: "gone", next: { v: 1, gone: true, order }, call, begun: mark?.begun };
  }

  /**
   * Hands over and stores what a response says, and notes the time of the look. Resolves to undefined if the lock was lost or another call
   * has looked since `stored` was loaded.
   *
   * @param looked The time to note.
   */
  async function handOver(
    reference: OrderReference,
    stored: StoredOrder,
    news: News,
    lock: Lock,
    looked = dateOf(clock),
  ): Promise<LookResult | undefined> {
    const { found, next, call } = news;
    const hand = () => noteAndCall(reference, stored, news, lock);
    const mark = call === undefined ? stored.mark : await handlers.take(reference, hand);
    if (mark === undefined) return undefined;
    if (next !== undefined && !(await records.setOrder(reference, next, stored.order))) return undefined;
    return (await markLooked(reference, mark, next ?? stored.order.value, looked)) ? found : undefined;
  }

  /**
   * Notes in the mark what is handed over, and calls the function of the caller. The first news of an order follows it. Resolves to the
   * mark, or to undefined if nothing was handed over because the lock was lost or another call has looked.
   */
  async function noteAndCall(
    reference: OrderReference,
    { order, mark }: StoredOrder,
    { begun, call }: News,
    lock: Lock,
  ): Promise<Stored<OpenMark> | undefined> {
    const { looked = 0, since = dateOf(clock) } = mark.value ?? {};
    const fields = order.value === undefined ? { looked, since, begun } : { looked, begun };
    const noted = await records.setMark(reference, fields, mark);
    // From here to the call there is no wait, so that a suspended process hands over nothing outdated.
    if (noted === undefined || !lock.isCertain) return undefined;
    const message = `The change of the order ${reference} was not handled within ${timeout} ms (option \`timeout\` of the follower). ${deadlockHint}`;
    const late = () => new DeadlineError({ message });
    await withTimeout(clock, timeout, late, (signal) => callHandler(settings, reference, signal, () => call?.(signal)));
    return noted;
  }

  /**
   * Notes the time of a look. An order that is not open leaves the sweep; one that is not followed stays unknown. Resolves to false if another
   * call has changed the mark: it may have begun a hand-over.
   */
  async function markLooked(
    reference: OrderReference,
    mark: Stored<OpenMark>,
    now: RememberedOrder | undefined,
    looked: number,
  ): Promise<boolean> {
    if (now === undefined && mark.value === undefined) return true;
    if (now !== undefined && isClosed(now)) return records.deleteMark(reference, mark);
    const fields = now === undefined ? { looked, since: mark.value?.since } : { looked };
    return (await records.setMark(reference, fields, mark)) !== undefined;
  }

  return { lockAndLook, visit };
}

const sleep = (clock: PartnerClock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.after(ms, resolve));

/** `partner` may be any object with `orders.get`. Without quantities, an order would look completed. */
function assertComparable(order: Order): void {
  const checked = check(comparable, order, ["order"]);
  if (checked.ok) return;
  const response = { status: 200, headers: {}, body: undefined };
  throw new ResponseValidationError({ issues: checked.issues, response, endpoint: "GET /orders/{orderReference}" });
}
