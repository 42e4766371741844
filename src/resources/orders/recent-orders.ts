import type { Found } from "../../http/retry/recovery.ts";
import type { PartnerClock } from "../../util/clock.ts";
import type { CreatedOrder } from "./order-input.schema.ts";

/** Milliseconds for which what this client was told outweighs a look-up that does not know of it yet. */
const memory = 10_000;

/** So many responses are remembered at most, the latest: a response takes memory. */
const mostResponses = 1_000;

/** The same for orders that may still come into being: a forgotten one could be placed twice. */
const mostDoubts = 100_000;

/** Values that are forgotten when their time is over. Those that are set later mostly end later. */
class Fading<Value> {
  readonly #clock: PartnerClock;
  readonly #most: number;
  readonly #entries = new Map<string, { readonly value: Value; readonly until: number }>();

  constructor(clock: PartnerClock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  get(name: string): Value | undefined {
    const entry = this.#entries.get(name);
    return entry !== undefined && this.#clock.now() < entry.until ? entry.value : undefined;
  }

  set(name: string, value: Value, until: number): void {
    this.delete(name);
    this.#entries.set(name, { value, until });
    for (const [oldest, entry] of this.#entries) {
      if (this.#clock.now() < entry.until && this.#entries.size <= this.#most) break;
      this.#entries.delete(oldest);
    }
  }

  delete(name: string): void {
    this.#entries.delete(name);
  }
}

/** What this client knows of the orders that it has sent of late, by their custom identifiers. */
export class RecentOrders {
  readonly #clock: PartnerClock;
  readonly #told: Fading<Found<CreatedOrder>>;
  /** Until when an order may still come into being whose answer did not come. */
  readonly #doubts: Fading<number>;

  constructor(clock: PartnerClock) {
    this.#clock = clock;
    this.#told = new Fading(clock, mostResponses);
    this.#doubts = new Fading(clock, mostDoubts);
  }

  /** What the service has told of an order. */
  told(customIdentifier: string): Found<CreatedOrder> | undefined {
    return this.#told.get(customIdentifier);
  }

  /** Milliseconds for which an order may still come into being that was sent and given up; 0 for others. */
  doubt(customIdentifier: string): number {
    const until = this.#doubts.get(customIdentifier);
    return until === undefined ? 0 : until - this.#clock.now();
  }

  tell(customIdentifier: string, found: Found<CreatedOrder>): void {
    this.#doubts.delete(customIdentifier);
    this.#told.set(customIdentifier, found, this.#clock.now() + memory);
  }

  /** The answer to an order did not come. */
  suspect(customIdentifier: string, until: number): void {
    this.#doubts.set(customIdentifier, until, until);
  }
}
