import type { Found } from "../../http/call.ts";
import type { PartnerClock } from "../../util/clock.ts";
import type { CreatedOrder } from "./orders.endpoints.ts";

/**
 * Maximum number of remembered orders. The oldest are dropped first: a forgotten one that the service may still create could be placed
 * twice. It is far more than the rate limit allows to place in the time that they are remembered.
 */
const capacity = 100_000;

/** An order that was sent recently. Without `found` it is in doubt: the service may still create it. */
interface RecentOrder {
  readonly found?: Found<CreatedOrder>;
  /** When it is forgotten, by the clock. */
  readonly until: number;
}

/** Remembers the orders that this client sent recently, by their custom identifiers. */
export class RecentOrders {
  readonly #clock: PartnerClock;
  /** Milliseconds to remember a known order. A look-up can miss an order that was created this recently. */
  readonly #memory: number;
  /** An order that is remembered later is usually forgotten later. */
  readonly #orders = new Map<string, RecentOrder>();

  /** @param processingTime Milliseconds after which a look-up shows every order. */
  constructor(clock: PartnerClock, processingTime: number) {
    this.#clock = clock;
    this.#memory = processingTime;
  }

  /** The order that the service reported recently; undefined if unknown. */
  known(customIdentifier: string): Found<CreatedOrder> | undefined {
    return this.#get(customIdentifier)?.found;
  }

  /** Milliseconds for which an order is in doubt: the service may still create it; 0 for other orders. */
  doubt(customIdentifier: string): number {
    const order = this.#get(customIdentifier);
    return order === undefined || order.found ? 0 : order.until - this.#clock.now();
  }

  /** Records an order that the service reported. One that was found here is not recorded again: it would never be forgotten. */
  record(customIdentifier: string, found: Found<CreatedOrder>): void {
    if (this.known(customIdentifier)?.data === found.data) return;
    this.#set(customIdentifier, { found, until: this.#clock.now() + this.#memory });
  }

  /** Records that an order is in doubt until a time, or longer if it is so already. An order that the service has reported exists. */
  suspect(customIdentifier: string, until: number): void {
    const order = this.#get(customIdentifier);
    if (order?.found !== undefined || until <= (order?.until ?? this.#clock.now())) return;
    this.#set(customIdentifier, { until });
  }

  #get(customIdentifier: string): RecentOrder | undefined {
    const order = this.#orders.get(customIdentifier);
    return order !== undefined && this.#clock.now() < order.until ? order : undefined;
  }

  #set(customIdentifier: string, order: RecentOrder): void {
    this.#orders.delete(customIdentifier);
    this.#orders.set(customIdentifier, order);
    for (const [oldest, { until }] of this.#orders) {
      if (this.#clock.now() < until && this.#orders.size <= capacity) break;
      this.#orders.delete(oldest);
    }
  }
}
