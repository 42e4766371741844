import type { Order } from "../../resources/orders/orders.endpoints.ts";
import type { World } from "../state/world.ts";

type HandledOrder = Pick<Order, "reference" | "orderlines">;

/** Shipped units of an order. They only grow. */
export const shippedOf = (lines: readonly { readonly shippedQuantity: number }[]): number =>
  lines.reduce((sum, { shippedQuantity }) => sum + shippedQuantity, 0);

/** The states of orders that the programs have acted on. */
export class Ledger {
  readonly #shipped = new Map<string, number>();
  readonly #backwards = new Set<string>();

  add({ reference, orderlines }: HandledOrder): void {
    const shipped = shippedOf(orderlines);
    if (shipped < (this.#shipped.get(reference) ?? 0)) this.#backwards.add(reference);
    this.#shipped.set(reference, shipped);
  }

  /** The orders of which an older state was handled after a newer one. */
  get backwards(): readonly string[] {
    return [...this.#backwards];
  }

  /** The orders that have moved, and whose last state no program has acted on. */
  missing(worlds: readonly World[]): readonly string[] {
    return worlds.flatMap(({ orders }) =>
      orders.all().flatMap((order) => {
        const shipped = shippedOf(order.lines);
        return shipped > 0 && this.#shipped.get(order.reference) !== shipped
          ? [order.customIdentifier ?? order.reference]
          : [];
      }),
    );
  }
}
