import * as z from "zod/mini";
import type { AddressReference } from "../references/references.ts";
import { reference } from "../references/schema.ts";
import { isOpen } from "../resources/orders/open-order.ts";
import type { Order } from "../resources/orders/orders.schema.ts";
import { count } from "../schemas/shape.ts";
import { sha256 } from "../util/sha256.ts";
import type { FollowedOrder, OrderChange } from "./changes.ts";

/** The totals of each line. */
export type Lines = readonly (readonly [index: number, quantity: number, shipped: number, canceled: number])[];

/** What is remembered of an order. It holds no text of the order but its status code: the rest are numbers, references and hashes. */
export interface OrderState {
  readonly lines: Lines;
  /** A hash of the hold; null without one. */
  readonly hold: string | null;
  /** A hash of the status, and its code. */
  readonly status: readonly [hash: string, code: string | null];
  readonly address: AddressReference | null;
  /** A hash of all other fields. */
  readonly rest: string;
  /** The service's time of the response; 0 if the service sent none. */
  readonly at: number;
  /** The follower that read it. */
  readonly by: string;
  readonly completed: boolean;
}

/** The value of an order's key. `order` is null if it was never read; `gone` if the service no longer has it. */
export interface Remembered {
  readonly v: 1;
  readonly gone: boolean;
  readonly order: OrderState | null;
}

/** The schema of stored totals. */
export const lines = () => z.array(z.tuple([count(1), count(0), count(0), count(0)]));

const orderState = () =>
  z.object({
    lines: lines(),
    hold: z.nullable(z.string()),
    status: z.tuple([z.string(), z.nullable(z.string())]),
    address: z.nullable(reference("Address")),
    rest: z.string(),
    at: z.number(),
    by: z.string(),
    completed: z.boolean(),
  });

/** The schema of a stored value. A value of another version counts as absent: then everything is handed over once more. */
export const remembered = () => z.object({ v: z.literal(1), gone: z.boolean(), order: z.nullable(orderState()) });

/** The fields of an order that the follower compares. */
export const comparable = () =>
  z.object({
    status: z.object({ code: z.optional(z.string()) }),
    orderlines: z.array(
      z.object({ index: count(1), quantity: count(0), shippedQuantity: count(0), canceledQuantity: count(0) }),
    ),
    onHold: z.nullable(z.object({})),
    dropshipAddressReference: z.nullish(reference("Address")),
  });

/** Writes objects with sorted names, so that the same content has the same hash. */
const sorted = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

async function hashOf(value: unknown): Promise<string> {
  const hash = await sha256(JSON.stringify(value, sorted));
  return btoa(String.fromCharCode(...hash.subarray(0, 9)));
}

/** Makes the state of an order that was read. */
export async function stateOf(order: Order, at: number, by: string): Promise<OrderState> {
  const { reference: _, status, orderlines, onHold, dropshipAddressReference, ...fields } = order;
  const rest = orderlines.map(({ shippedQuantity: _, canceledQuantity: __, ...line }) => line);
  // A line is identified by its index. The order of the lines has no meaning.
  rest.sort((one, other) => one.index - other.index);
  const [hold, statusHash, restHash] = await Promise.all([
    onHold === null ? null : hashOf(onHold),
    hashOf(status),
    hashOf({ ...fields, orderlines: rest }),
  ]);
  return {
    lines: orderlines.map((line) => [line.index, line.quantity, line.shippedQuantity, line.canceledQuantity]),
    hold,
    status: [statusHash, status.code ?? null],
    address: dropshipAddressReference ?? null,
    rest: restHash,
    at,
    by,
    completed: !isOpen(order),
  };
}

/** The state as the caller's function receives it. */
export const followedOrder = ({ lines, hold, status, address, completed }: OrderState): FollowedOrder => ({
  orderlines: lines.map(([index, quantity, shippedQuantity, canceledQuantity]) => ({
    index,
    quantity,
    shippedQuantity,
    canceledQuantity,
  })),
  held: hold !== null,
  statusCode: status[1] ?? undefined,
  dropshipAddressReference: address,
  completed,
});

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

/** Whether an order needs no more looks. */
export const isClosed = (remembered: Remembered): boolean => remembered.gone || remembered.order?.completed === true;
