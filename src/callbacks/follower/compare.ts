import { isOpen } from "../../resources/orders/open-order.ts";
import type { Order } from "../../resources/orders/orders.schema.ts";
import type { OrderChange } from "./changes.ts";
import { followedOrder, type OrderState } from "./state.ts";

/** The lines of two states with the greater quantities of each. Shipped and canceled quantities never shrink. */
function mergeLines(before: OrderState["lines"], now: OrderState["lines"]): OrderState["lines"] {
  const merged = new Map(before.map((line) => [line[0], line]));
  for (const [index, quantity, shipped, canceled] of now) {
    const [, , shippedBefore, canceledBefore] = merged.get(index) ?? [index, 0, 0, 0];
    merged.set(index, [index, quantity, Math.max(shipped, shippedBefore), Math.max(canceled, canceledBefore)]);
  }
  return [...merged.values()];
}

/**
 * Adds what was read to what is remembered, field by field. Of an older read, only quantities that are greater count: hold, status,
 * address and the other fields go by the time of the request.
 */
export function merge(before: OrderState | undefined, read: OrderState, isOlder: boolean): OrderState {
  const lines = mergeLines(before?.lines ?? [], read.lines);
  const { completed: _, ...rest } = isOlder && before !== undefined ? before : read;
  const state = { ...rest, lines, completed: false };
  // A line that the service no longer returns must not keep the order open.
  const present = new Set(read.lines.map(([index]) => index));
  const orderlines = followedOrder(state).orderlines.filter(({ index }) => present.has(index));
  return { ...state, completed: !isOpen({ orderlines }) };
}

/** Lists what is new in a state. Of the first state, everything is new that differs from an order just placed. */
export function changesBetween(before: OrderState | undefined, now: OrderState, { onHold }: Order): OrderChange[] {
  const changes: OrderChange[] = [];
  for (const [index, , shipped, canceled] of now.lines) {
    const [, , shippedBefore, canceledBefore] = before?.lines.find((line) => line[0] === index) ?? [index, 0, 0, 0];
    if (shipped > shippedBefore) changes.push({ kind: "shipped", index, from: shippedBefore, to: shipped });
    if (canceled > canceledBefore) changes.push({ kind: "canceled", index, from: canceledBefore, to: canceled });
  }
  const holdBefore = before?.hold ?? null;
  if (now.hold !== holdBefore) {
    changes.push(now.hold === null ? { kind: "released" } : { kind: "held", reason: onHold?.reason ?? "" });
  }
  if (now.completed && before?.completed !== true) changes.push({ kind: "completed" });
  if (before !== undefined && now.address !== before.address) {
    changes.push({ kind: "addressReplaced", from: before.address, to: now.address });
  }
  if (now.status[0] !== before?.status[0]) {
    changes.push({ kind: "status", from: before?.status[1] ?? undefined, to: now.status[1] ?? undefined });
  }
  if (before !== undefined && now.rest !== before.rest) changes.push({ kind: "other" });
  return changes;
}

/** The order with the quantities of the state. They are greater where the service's response was older than an earlier one. */
export function withQuantities(order: Order, { lines }: OrderState): Order {
  const known = new Map(lines.map((line) => [line[0], line]));
  const orderlines = order.orderlines.map((line) => {
    const [, , shippedQuantity, canceledQuantity] = known.get(line.index) ?? [0, 0, 0, 0];
    const same = line.shippedQuantity === shippedQuantity && line.canceledQuantity === canceledQuantity;
    return same ? line : { ...line, shippedQuantity, canceledQuantity };
  });
  return { ...order, orderlines };
}
