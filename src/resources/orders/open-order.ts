import type { Cancellation, Orderline } from "./orders.schema.ts";

/** What tells whether an order is open. */
export interface OrderProgress {
  /** The order's lines, as `orders.get` gives them. */
  readonly orderlines: readonly Pick<Orderline, "index" | "quantity" | "canceledQuantity" | "shippedQuantity">[];
}

/** The cancellations of all that is neither shipped nor canceled, with absolute totals (specification 4.7). */
export const cancellationsOfRest = ({ orderlines }: OrderProgress): readonly Cancellation[] =>
  orderlines
    .filter(({ quantity, canceledQuantity, shippedQuantity }) => canceledQuantity + shippedQuantity < quantity)
    .map(({ index, quantity, shippedQuantity }) => ({ index, canceledQuantity: quantity - shippedQuantity }));

/**
 * Whether an order is open: it is until each unit of every orderline is shipped or canceled (specification 3.4).
 *
 * @example
 * const order = await partner.orders.get(orderReference);
 * if (isOpen(order)) await partner.orders.cancelRemaining(orderReference);
 */
export const isOpen = (order: OrderProgress): boolean => cancellationsOfRest(order).length > 0;
