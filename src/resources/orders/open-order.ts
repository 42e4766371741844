import type { Cancellation, Orderline } from "./orders.endpoints.ts";

/** The part of an order that shows whether it is open. */
export interface OrderProgress {
  /** The orderlines, as `orders.get` returns them. */
  readonly orderlines: readonly Pick<Orderline, "index" | "quantity" | "canceledQuantity" | "shippedQuantity">[];
}

/** The cancellations of all units that are neither shipped nor canceled, with absolute totals (specification 4.7). */
export const cancellationsOfRest = ({ orderlines }: OrderProgress): readonly Cancellation[] =>
  orderlines
    .filter(({ quantity, canceledQuantity, shippedQuantity }) => canceledQuantity + shippedQuantity < quantity)
    .map(({ index, quantity, shippedQuantity }) => ({ index, canceledQuantity: quantity - shippedQuantity }));

/**
 * Returns true if an order is open: at least one unit is neither shipped nor canceled (specification 3.4).
 *
 * @example
 * const order = await partner.orders.get(orderReference);
 * if (isOpen(order)) await partner.orders.cancelRemaining(orderReference);
 */
export const isOpen = (order: OrderProgress): boolean => cancellationsOfRest(order).length > 0;
