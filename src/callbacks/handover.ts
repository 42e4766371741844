import type { OrderReference } from "../references/references.ts";
import type { LookResult } from "./changes.ts";
import { OrderFollowerError } from "./errors.ts";
import type { FollowerSettings } from "./follower-options.ts";
import { callHandler, deadlockHint, withTimeout } from "./handlers.ts";
import type { OrderLock } from "./lock.ts";
import {
  ageOf,
  changesBetween,
  followedOrder,
  isClosed,
  type Lines,
  type OrderState,
  type Remembered,
  stateOf,
} from "./order-state.ts";
import { type FollowerReadOptions, readOrder } from "./reader.ts";
import type { Held, Mark, Records } from "./records.ts";

/** What a response says, compared with what is remembered. */
interface News {
  readonly found: LookResult;
  /** What to remember; undefined if nothing is new. */
  readonly next?: Remembered;
  /** Calls the caller's function; undefined if there is nothing to hand over. */
  readonly handOver?: (signal: AbortSignal) => unknown;
}

/** What is remembered of an order when it is read. */
interface Memory {
  readonly order: Held<Remembered>;
  readonly mark: Held<Mark>;
}

/** Milliseconds before each look after an outdated response. A cache or replica may be up to date a moment later. */
const pauses = [0, 1_000, 2_000];
/**
 * How much the clock of the service may be ahead, in milliseconds. A stored time further in the future does not count: either that clock or
 * the clock of this machine is wrong, and all later responses would look old.
 */
const mostAhead = 300_000;
/** Milliseconds for which the service may not know an order that was just placed. */
const visibleAfter = 3_600_000;

/** Reads an order, compares it with what is remembered, hands over what is new, and only then remembers it. */
export class Handover {
  readonly #settings: FollowerSettings;
  readonly #records: Records;
  /** The running call of the caller's function for each order. */
  readonly #calls = new Map<OrderReference, Promise<unknown>>();
  /** The name of this follower in what it remembers. */
  readonly #self = crypto.randomUUID().slice(0, 8);

  constructor(settings: FollowerSettings, records: Records) {
    this.#settings = settings;
    this.#records = records;
  }

  /**
   * Looks at an order under a lock for handing over. Resolves to undefined if the lock was lost or another process has stored a state: then
   * the order must be looked at once more.
   *
   * @throws {@link OrderFollowerError} if each response is older than what was handed over: the caller must not acknowledge a callback.
   */
  async look(reference: OrderReference, lock: OrderLock): Promise<LookResult | undefined> {
    const { clock, timeout } = this.#settings;
    for (const pause of [0, ...pauses]) {
      if (pause > 0) await new Promise<void>((resolve) => void clock.after(pause, resolve));
      const memory = await this.remembered(reference);
      const news = await this.read(reference, memory, { priority: "high", deadline: timeout });
      if (news !== undefined) return this.handOver(reference, memory, news, lock);
    }
    const message = `The service returned an order ${reference} that is older than what was handed over, ${pauses.length + 1} times in a row. Repeat the call later.`;
    throw new OrderFollowerError({ fault: "outdated", message });
  }

  async remembered(reference: OrderReference): Promise<Memory> {
    const [order, mark] = await Promise.all([this.#records.order(reference), this.#records.mark(reference)]);
    return { order, mark };
  }

  /** Reads an order. Resolves to undefined if the response is older than what was handed over, or than a hand-over that has begun. */
  async read(reference: OrderReference, memory: Memory, options: FollowerReadOptions): Promise<News | undefined> {
    const response = await readOrder(this.#settings.partner, reference, options);
    if (response.order === undefined) return this.#newsOfGone(reference, memory, response.error);
    const { order, at } = response;
    const { value } = memory.order;
    const known = value?.order ?? undefined;
    const next = await stateOf(order, at, this.#self);
    if (ageOf(next.lines, memory.mark.value?.begun ?? []) === "older") return undefined;
    if (known !== undefined && this.#isOlder(next, known)) return undefined;
    const changes = changesBetween(known, next, order);
    if (changes.length === 0 && value?.gone === false) return { found: "unchanged" };
    const remember: Remembered = { v: 1, gone: false, order: next };
    if (changes.length === 0) return { found: "unchanged", next: remember };
    const previous = known && followedOrder(known);
    return {
      found: "changed",
      next: remember,
      handOver: (signal) => this.#settings.onChange({ order, previous, changes, signal }),
    };
  }

  /** Hands over and remembers what a response says. Resolves to undefined if the lock was lost or another process has stored a state. */
  async handOver(
    reference: OrderReference,
    memory: Memory,
    news: News,
    lock: OrderLock,
  ): Promise<LookResult | undefined> {
    const { found, next, handOver } = news;
    if (handOver !== undefined) {
      // Its lock may have ended in the store: calls of one process do not overlap in any case.
      await this.#calls.get(reference);
      await this.#begin(reference, memory, next?.order?.lines);
      // From here to the call of the handler there is no wait, so that a suspended process hands over nothing outdated.
      if (!lock.isCertain) return undefined;
      await this.#call(reference, handOver);
    }
    if (next !== undefined && !(await this.#records.setOrder(reference, next, memory.order))) return undefined;
    await this.#markLooked(reference, memory, next, handOver !== undefined);
    return found;
  }

  /** Where the quantities do not show it, the later `Date` wins. This follower sent its own requests one after the other. */
  #isOlder(read: OrderState, known: OrderState): boolean {
    const age = ageOf(read.lines, known.lines);
    if (age !== "same" || known.by === this.#self || read.at === 0) return age === "older";
    return read.at < known.at && known.at <= this.#settings.clock.now() + mostAhead;
  }

  #newsOfGone(orderReference: OrderReference, { order: { value: known }, mark }: Memory, error: unknown): News {
    if (known?.gone) return { found: "gone" };
    const since = mark.value?.since ?? 0;
    const isOverdue = mark.value !== undefined && this.#settings.clock.now() - since > visibleAfter;
    if (known === undefined && !isOverdue) return { found: "missing" };
    const order = known?.order ?? null;
    const previous = order === null ? undefined : followedOrder(order);
    return {
      found: "gone",
      next: { v: 1, gone: true, order },
      handOver: (signal) => this.#settings.onGone({ orderReference, previous, error, signal }),
    };
  }

  async #call(reference: OrderReference, handOver: (signal: AbortSignal) => unknown): Promise<void> {
    const { clock, timeout } = this.#settings;
    const message = `The change of the order ${reference} was not handled within ${timeout} ms (option \`timeout\` of the follower). ${deadlockHint}`;
    const call = withTimeout(clock, timeout, message, (signal) =>
      callHandler(this.#settings, reference, signal, () => handOver(signal)),
    );
    const ended = call.catch(() => undefined);
    this.#calls.set(reference, ended);
    try {
      await call;
    } finally {
      if (this.#calls.get(reference) === ended) this.#calls.delete(reference);
    }
  }

  /** Notes what is handed over, for the case that the handler fails. The first news of an order follows it. */
  async #begin(reference: OrderReference, { order, mark }: Memory, begun: Lines | undefined): Promise<void> {
    const { looked = 0, since = this.#settings.clock.now() } = mark.value ?? {};
    await this.#records.setMark(reference, order.value === undefined ? { looked, since, begun } : { looked, begun });
  }

  /** Notes the time of a look; an order that is not open leaves the sweep. An order that is not followed stays unknown. */
  async #markLooked(
    reference: OrderReference,
    { order, mark }: Memory,
    next: Remembered | undefined,
    handedOver: boolean,
  ): Promise<void> {
    const now = next ?? order.value;
    const looked = this.#settings.clock.now();
    if (now === undefined) {
      if (mark.value !== undefined) await this.#records.setMark(reference, { since: mark.value.since, looked }, mark);
    } else if (isClosed(now)) {
      await this.#records.deleteMark(reference);
    } else {
      // After a hand-over, the mark is that of the hand-over. Otherwise another call may have begun one.
      await this.#records.setMark(reference, { looked }, handedOver ? undefined : mark);
    }
  }
}
