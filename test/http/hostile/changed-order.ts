/** What may happen to an order that a call changes, when one of the call's requests arrives. */
export const happenings = ["ships", "is produced", "is canceled", "is readdressed"] as const;
export type Happening = (typeof happenings)[number];

/** The number of units of the order. */
export const units = 4;

/** The address of a request, as far as it differs between two clients. */
type Street = string;
const street = { old: "Kade", other: "Rokin" };

/** What a request to change an order leads to: nothing, or the code of a conflict. */
type Refusal = string | undefined;

/** One order that calls change while it moves. It counts what it has carried out. */
export class ChangedOrder {
  canceled = 0;
  shipped = 0;
  #inProduction = false;
  #address = 1;
  #streets: Street[] = [street.old];
  /** Whether the change of the call was carried out. */
  made = false;

  /** The number of the present address. Each replacement gives the next one. */
  get address(): number {
    return this.#address;
  }

  /** The street of an address; undefined if it no longer resolves. */
  streetOf(address: number): Street | undefined {
    return address === this.#address ? this.#streets[address - 1] : undefined;
  }

  /** Whether a unit is neither shipped nor canceled. */
  get isOpen(): boolean {
    return this.#open > 0;
  }

  get #open(): number {
    return units - this.canceled - this.shipped;
  }

  happen(what: Happening): void {
    if (what === "ships") this.shipped += this.#open;
    if (what === "is produced") this.#inProduction = true;
    if (what === "is canceled") this.canceled += this.#open;
    if (what === "is readdressed" && this.#open > 0) this.#readdress(street.other);
  }

  /** Cancels units, all of them or none. This service refuses a repeated cancellation once the order is in production. */
  cancel(total: number): Refusal {
    if (this.#inProduction) return "already_in_production";
    if (total < this.canceled) return "canceled_quantity_below_current";
    if (total > units - this.shipped) return "canceled_quantity_exceeds_shippable";
    this.canceled = total;
    this.made = true;
    return undefined;
  }

  replaceAddress(to: Street): Refusal {
    if (this.#open === 0) return "order_completed";
    this.#readdress(to);
    this.made = true;
    return undefined;
  }

  #readdress(to: Street): void {
    this.#streets.push(to);
    this.#address = this.#streets.length;
  }
}
