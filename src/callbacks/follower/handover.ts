import type { OrderReference } from "../../references/references.ts";
import { sameBytes } from "../../util/same-bytes.ts";
import { callHandler, deadlockHint } from "../handlers.ts";
import { withTimeout } from "../timeout.ts";
import type { Found } from "./changes.ts";
import { ageOf, changesBetween } from "./compare.ts";
import { OrderFollowerError } from "./errors.ts";
import type { FollowerSettings } from "./options.ts";
import type { Read, Reader } from "./reader.ts";
import type { Held, Mark, Records } from "./records.ts";
import { followedOrder, type Lines, type OrderState, type Remembered, stateOf } from "./state.ts";
import { type Turn, takeTurn } from "./turn.ts";

/** What a sweep has read, and the bytes of the claim that it made before the request. */
export interface Look {
  readonly claim: Uint8Array;
  readonly read: Read;
}

/** A look at an order, compared with what is remembered. */
interface News {
  readonly outcome: Found;
  /** What to remember; undefined if nothing is new. */
  readonly next: Remembered | undefined;
  /** Calls the caller's function; undefined if there is nothing to hand over. */
  readonly handOver: ((signal: AbortSignal) => unknown) | undefined;
  /** The totals that are handed over. */
  readonly lines?: Lines | undefined;
}

/** How often one call looks again because another process was faster. */
const mostLooks = 5;
/** Milliseconds before each further look after an outdated response. A cache or replica may be up to date a moment later. */
const pauses = [0, 1_000, 2_000];
/**
 * How much the clock of the service may be ahead, in milliseconds. A stored time further in the future does not count: either that clock or
 * the clock of this machine is wrong, and all later responses would look old.
 */
const mostAhead = 300_000;
/** Milliseconds for which the service may not know an order that was just placed. */
const visibleAfter = 3_600_000;

const nothingNew: News = { outcome: "unchanged", next: undefined, handOver: undefined };

/** Compares an order with what is remembered, hands over what is new, and only then remembers it. */
export class Handover {
  readonly #settings: FollowerSettings;
  readonly #records: Records;
  readonly #reader: Reader;
  /** The name of this follower in what it remembers. */
  readonly #self = crypto.randomUUID().slice(0, 8);

  constructor(settings: FollowerSettings, records: Records, reader: Reader) {
    this.#settings = settings;
    this.#records = records;
    this.#reader = reader;
  }

  /**
   * Reads an order without a turn, for a sweep: it may wait long for its token, and most orders have no news. If the order
   * has news, it resolves to a value for `run`, otherwise to undefined.
   */
  async look(reference: OrderReference, claim: Uint8Array, signal: AbortSignal): Promise<Look | undefined> {
    const before = await this.#records.order(reference);
    const read = await this.#reader.read(reference, { priority: "low", signal });
    const news = await this.#compare(reference, before, read);
    if (news === undefined || news.next !== undefined) return { claim, read };
    await this.#markLooked(reference, before.value);
    return undefined;
  }

  /** Takes the turn of the order, reads it, and hands over what is new. `look` is used if the claim still stands. */
  async run(reference: OrderReference, look?: Look): Promise<Found> {
    let turn: Turn | undefined;
    try {
      let outdated = 0;
      for (let looks = 0; looks - outdated < mostLooks; looks += 1) {
        if (turn?.isCertain !== true) {
          await turn?.release();
          turn = await takeTurn(this.#records, reference, this.#settings);
        }
        const outcome = await this.#attempt(reference, turn, looks === 0 ? look : undefined);
        if (outcome === "outdated") await this.#pauseAfter(reference, outdated++);
        else if (outcome !== undefined) return outcome;
      }
    } finally {
      await turn?.release();
    }
    const message = `Other processes changed what is remembered of the order ${reference} ${mostLooks} times in a row.`;
    throw new OrderFollowerError({ fault: "busy", message });
  }

  /** Waits before the next look after an outdated response. Rejects if there were enough: the caller must not acknowledge a callback. */
  async #pauseAfter(reference: OrderReference, outdated: number): Promise<void> {
    const pause = pauses[outdated];
    if (pause === undefined) {
      const message = `The service returned an order ${reference} that is older than what was handed over, ${outdated + 1} times in a row. Repeat the call later.`;
      throw new OrderFollowerError({ fault: "outdated", message });
    }
    if (pause > 0) await new Promise<void>((resolve) => void this.#settings.clock.after(pause, resolve));
  }

  /** Resolves to `outdated` or undefined if the order must be looked at once more. */
  async #attempt(
    reference: OrderReference,
    turn: Turn,
    given: Look | undefined,
  ): Promise<Found | "outdated" | undefined> {
    const [before, mark] = await Promise.all([this.#records.order(reference), this.#records.mark(reference)]);
    // A hand-over first ends the claim. Then this response may be older than what was handed over.
    const usable = given !== undefined && sameBytes(given.claim, mark.bytes);
    const read = usable ? given.read : await this.#readNow(reference);
    const news = await this.#compare(reference, before, read, mark.value?.begun);
    if (news === undefined) return "outdated";
    const { outcome, next, handOver, lines } = news;
    if (handOver !== undefined) {
      await this.#beginHandOver(reference, before, mark, lines);
      // From here to the call of the handler there is no wait, so that a suspended process hands over nothing outdated.
      if (!turn.isCertain) return undefined;
      await this.#handle(reference, handOver);
    }
    if (next !== undefined && !(await this.#records.setOrder(reference, next, before))) return undefined;
    await this.#markLooked(reference, next ?? before.value);
    return outcome;
  }

  #readNow(reference: OrderReference): Promise<Read> {
    return this.#reader.read(reference, { priority: "high", deadline: this.#settings.timeout });
  }

  /** Resolves to undefined if the response is older than what was handed over, or than a hand-over that has begun. */
  async #compare(
    reference: OrderReference,
    before: Held<Remembered>,
    read: Read,
    begun: Lines = [],
  ): Promise<News | undefined> {
    const known = before.value?.order ?? undefined;
    if (read.order === undefined) return this.#compareGone(reference, before.value, read.error);
    const { order } = read;
    const next = await stateOf(order, read.at, this.#self);
    if (ageOf(next.lines, begun) === "older" || (known !== undefined && this.#isOlder(next, known))) return undefined;
    const changes = changesBetween(known, next, order);
    if (changes.length === 0 && before.value?.gone === false) return nothingNew;
    const previous = known && followedOrder(known);
    return {
      outcome: changes.length > 0 ? "changed" : "unchanged",
      next: { v: 1, gone: false, order: next },
      handOver:
        changes.length > 0 ? (signal) => this.#settings.onChange({ order, previous, changes, signal }) : undefined,
      lines: next.lines,
    };
  }

  /** Where the quantities do not show it, the later `Date` wins. This follower sent its own requests one after the other. */
  #isOlder(read: OrderState, known: OrderState): boolean {
    const age = ageOf(read.lines, known.lines);
    if (age !== "same" || known.by === this.#self || read.at === 0) return age === "older";
    return read.at < known.at && known.at <= this.#settings.clock.now() + mostAhead;
  }

  async #compareGone(reference: OrderReference, known: Remembered | undefined, error: unknown): Promise<News> {
    if (known?.gone) return { ...nothingNew, outcome: "gone" };
    if (known === undefined && !(await this.#isOverdue(reference))) return { ...nothingNew, outcome: "missing" };
    const order = known?.order ?? null;
    const previous = order === null ? undefined : followedOrder(order);
    return {
      outcome: "gone",
      next: { v: 1, gone: true, order },
      handOver: (signal) => this.#settings.onGone({ orderReference: reference, previous, error, signal }),
    };
  }

  /** Whether an order that was never read is followed, and placed so long ago that the service must know it. */
  async #isOverdue(reference: OrderReference): Promise<boolean> {
    const { value } = await this.#records.mark(reference);
    return value !== undefined && this.#settings.clock.now() - (value.since ?? 0) > visibleAfter;
  }

  async #handle(reference: OrderReference, handOver: (signal: AbortSignal) => unknown): Promise<void> {
    const { clock, timeout } = this.#settings;
    const message = `The change of the order ${reference} was not handled within ${timeout} ms (option \`timeout\` of the follower). ${deadlockHint}`;
    await withTimeout(clock, timeout, message, (signal) =>
      callHandler(this.#settings, reference, signal, () => handOver(signal)),
    );
  }

  /**
   * Ends the claim of a sweep, in this or another process, and notes what is handed over, for the case that the handler fails. The first
   * news of an order follows it.
   */
  async #beginHandOver(
    reference: OrderReference,
    { value }: Held<Remembered>,
    mark: Held<Mark>,
    begun: Lines | undefined,
  ): Promise<void> {
    const { looked = 0, since = this.#settings.clock.now() } = mark.value ?? {};
    await this.#records.setMark(reference, value === undefined ? { looked, since, begun } : { looked, begun });
  }

  /** Notes the time of a look; an order that is not open leaves the sweep. An order that is not followed stays unknown. */
  async #markLooked(reference: OrderReference, now: Remembered | undefined): Promise<void> {
    const looked = this.#settings.clock.now();
    if (now === undefined) {
      const { bytes, value } = await this.#records.mark(reference);
      if (value !== undefined) await this.#records.setMark(reference, { since: value.since, looked }, { bytes });
    } else if (isClosed(now)) {
      await this.#records.deleteMark(reference);
    } else {
      await this.#records.setMark(reference, { looked });
    }
  }
}

/** Whether an order needs no more looks. */
const isClosed = ({ gone, order }: { readonly gone: boolean; readonly order: OrderState | null }): boolean =>
  gone || order?.completed === true;
