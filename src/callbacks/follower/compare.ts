import type { Order } from "../../resources/orders/orders.schema.ts";
import type { OrderChange } from "./changes.ts";
import type { Lines, OrderState } from "./state.ts";

/** The age of a response: `older` or `newer` than what is known, or `same` if its quantities do not show it. */
export type Age = "older" | "same" | "newer";

/**
 * Compares the lines of a response with those that were handed over. Shipped and canceled units stay so, and a line stays in its order
 * (specification 2.5, 3.4): a response with fewer units is older, and one with more units is newer, whatever its `Date` says.
 */
export function ageOf(read: Lines, known: Lines): Age {
  const units = new Map(read.map(([index, , shipped, canceled]) => [index, { shipped, canceled }]));
  let more = read.length > known.length;
  for (const [index, , shipped, canceled] of known) {
    const line = units.get(index);
    if (line === undefined || line.shipped < shipped || line.canceled < canceled) return "older";
    more ||= line.shipped > shipped || line.canceled > canceled;
  }
  return more ? "newer" : "same";
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
