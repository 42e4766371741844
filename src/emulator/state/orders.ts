import { Collection } from "../core/collection.ts";
import type { StoredOrder } from "../records/records.ts";

/** The orders, with a look-up by `customIdentifier`. */
export class Orders extends Collection<StoredOrder> {
  readonly #byIdentifier = new Map<string, StoredOrder>();

  override add<Added extends StoredOrder>(order: Added): Added {
    const { customIdentifier } = order;
    if (customIdentifier !== undefined && !this.#byIdentifier.has(customIdentifier)) {
      this.#byIdentifier.set(customIdentifier, order);
    }
    return super.add(order);
  }

  override load(orders: readonly StoredOrder[]): void {
    this.#byIdentifier.clear();
    super.load(orders);
  }

  /** The first order with a `customIdentifier`. */
  identified(identifier: string | undefined): StoredOrder | undefined {
    return identifier === undefined ? undefined : this.#byIdentifier.get(identifier);
  }
}
