import type { Found } from "../../http/call.ts";
import type { PartnerClock } from "../../util/clock.ts";
import { Latest } from "../../util/latest.ts";
import type { CreatedOrder } from "./orders.endpoints.ts";

/**
 * Maximum number of remembered orders. The oldest are dropped first. A dropped one that the service may still create could be placed twice,
 * but the rate limit allows far fewer orders in the time that they are remembered.
 */
const capacity = 100_000;

/** An order that the service reported recently. */
interface RecentOrder {
  readonly found: Found<CreatedOrder>;
  /** When it is forgotten, in milliseconds of the clock. */
  readonly until: number;
}

/** The orders that this client sent recently, by custom identifier. */
export class RecentOrders {
  readonly #clock: PartnerClock;
  /** Milliseconds to remember a known order. A look-up can miss an order that was created this recently. */
  readonly #memory: number;
  /** The orders that the service reported, the oldest first. */
  readonly #orders = new Map<string, RecentOrder>();
  /** Until when the service may still create an order in doubt. An entry stays until the service reports the order. */
  readonly #inDoubt = new Latest<number>(capacity);

  /** @param processingTime Milliseconds after which a look-up shows every order. */
  constructor(clock: PartnerClock, processingTime: number) {
    this.#clock = clock;
    this.#memory = processingTime;
  }

  /** Returns an order that the service reported recently; undefined if unknown. */
  known(customIdentifier: string): Found<CreatedOrder> | undefined {
    const order = this.#orders.get(customIdentifier);
    return order !== undefined && this.#clock.now() < order.until ? order.found : undefined;
  }

  /** Milliseconds for which the service may still create an order in doubt; 0 if one look-up can decide; undefined if it is not in doubt. */
  doubt(customIdentifier: string): number | undefined {
    const until = this.#inDoubt.get(customIdentifier);
    return until === undefined ? undefined : Math.max(0, until - this.#clock.now());
  }

  /** Records an order that the service reported. An order that came from here is not recorded again, or it would never be forgotten. */
  record(customIdentifier: string, found: Found<CreatedOrder>): void {
    this.#inDoubt.forget(customIdentifier);
    if (this.known(customIdentifier)?.data === found.data) return;
    this.#orders.delete(customIdentifier);
    this.#orders.set(customIdentifier, { found, until: this.#clock.now() + this.#memory });
    for (const [oldest, { until }] of this.#orders) {
      if (this.#clock.now() < until && this.#orders.size <= capacity) break;
      this.#orders.delete(oldest);
    }
  }

  /** Records that an order is in doubt until this time, or longer if it already was. A reported order is never in doubt. */
  suspect(customIdentifier: string, until: number): void {
    if (this.known(customIdentifier) !== undefined) return;
    const before = this.#inDoubt.get(customIdentifier) ?? until;
    this.#inDoubt.set(customIdentifier, Math.max(until, before));
  }
}
