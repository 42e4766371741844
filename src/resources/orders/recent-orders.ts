import type { Found } from "../../http/call.ts";
import type { PartnerClock } from "../../util/clock.ts";
import type { CreatedOrder } from "./orders.endpoints.ts";

/**
 * Maximum number of remembered responses, because a response takes memory. The oldest are dropped first. It is more than the rate limit
 * allows to place in 30 seconds after a full bucket.
 */
const mostResponses = 5_000;

/** Maximum number of remembered orders that the service may still create. A forgotten one could be placed twice. */
const mostDoubts = 100_000;

/** A map whose entries expire. It assumes that an entry that is set later usually expires later. */
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

/** Remembers the orders that this client sent recently, by their custom identifiers. */
export class RecentOrders {
  readonly #clock: PartnerClock;
  /** Milliseconds to remember a known order. A look-up can miss an order that was created this recently. */
  readonly #memory: number;
  readonly #known: Fading<Found<CreatedOrder>>;
  /** The time until which the service may still create an order whose response was lost. */
  readonly #doubts: Fading<number>;

  /** @param processingTime Milliseconds after which a look-up shows every order. */
  constructor(clock: PartnerClock, processingTime: number) {
    this.#clock = clock;
    this.#memory = processingTime;
    this.#known = new Fading(clock, mostResponses);
    this.#doubts = new Fading(clock, mostDoubts);
  }

  /** The order that the service reported recently; undefined if unknown. */
  known(customIdentifier: string): Found<CreatedOrder> | undefined {
    return this.#known.get(customIdentifier);
  }

  /** Milliseconds for which the service may still create an order whose response was lost; 0 for other orders. */
  doubt(customIdentifier: string): number {
    const until = this.#doubts.get(customIdentifier);
    return until === undefined ? 0 : until - this.#clock.now();
  }

  /** Records an order that the service reported. */
  record(customIdentifier: string, found: Found<CreatedOrder>): void {
    this.#doubts.delete(customIdentifier);
    this.#known.set(customIdentifier, found, this.#clock.now() + this.#memory);
  }

  /** Records that the response to an order was lost. */
  suspect(customIdentifier: string, until: number): void {
    this.#doubts.set(customIdentifier, until, until);
  }
}
