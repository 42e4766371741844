import * as z from "zod/mini";
import type { AddressReference } from "../references/references.ts";
import { isOpen } from "../resources/orders/change.ts";
import type { Order } from "../resources/orders/orders.endpoints.ts";
import { count, reference } from "../schemas/shape.ts";
import { canonicalJson, sha256 } from "../util/digest.ts";
import { isRecord, textOf } from "../util/foreign.ts";

/** What is new about an order. Quantities are totals of the line; they never decrease from one change to the next. */
export type OrderChange =
  /** Units of a line were shipped. */
  | { readonly kind: "shipped"; readonly index: number; readonly from: number; readonly to: number }
  /** Units of a line were canceled. */
  | { readonly kind: "canceled"; readonly index: number; readonly from: number; readonly to: number }
  /** Production is on hold, or the reason of the hold is another one. */
  | { readonly kind: "held"; readonly reason: string }
  /** The hold has ended. */
  | { readonly kind: "released" }
  /** Every orderline is shipped or canceled (specification 3.4). */
  | { readonly kind: "completed" }
  /** The dropship address was replaced. */
  | {
      readonly kind: "addressReplaced";
      readonly from: AddressReference | null;
      readonly to: AddressReference | null;
    }
  /** The status has changed, or is known for the first time. `from` and `to` are its `code`. */
  | { readonly kind: "status"; readonly from: string | undefined; readonly to: string | undefined }
  /** Any other field has changed, also one that the SDK does not know. */
  | { readonly kind: "other" };

/** The totals of a line. */
export interface FollowedLine {
  readonly index: number;
  readonly quantity: number;
  readonly shippedQuantity: number;
  readonly canceledQuantity: number;
}

/** What the follower remembers of an order. */
export interface FollowedOrder {
  readonly orderlines: readonly FollowedLine[];
  readonly held: boolean;
  /** The `code` of the status; undefined if it has none. */
  readonly statusCode: string | undefined;
  readonly dropshipAddressReference: AddressReference | null;
  readonly completed: boolean;
}

/** An order with what is new about it. */
export interface OrderChanged {
  /** The order as it is now. */
  readonly order: Order;
  /** The order as it was when it was last handed over; undefined for the first time. */
  readonly previous: FollowedOrder | undefined;
  /** What is new since then, at least one change. */
  readonly changes: readonly OrderChange[];
  /** Aborts at the `timeout`, with a `DeadlineError`. */
  readonly signal: AbortSignal;
}

/** An order that the service no longer has. */
export interface OrderGone {
  readonly orderReference: Order["reference"];
  /** The order as it was when it was last handed over; undefined if it never was. */
  readonly previous: FollowedOrder | undefined;
  /** The error of the service: a `NotFoundError` or `GoneError` with a code. */
  readonly error: unknown;
  /** Aborts at the `timeout`, with a `DeadlineError`. */
  readonly signal: AbortSignal;
}

/**
 * The result of checking an order: nothing is new; a change was handed over; the service no longer has the order; or it never had it, or does
 * not show it yet.
 */
export type LookResult = "unchanged" | "changed" | "gone" | "missing";

/** The stored state of an order. It holds numbers, references and hashes, and no text except the status code. */
export const orderState = () =>
  z.object({
    /** The totals of each line: index, quantity, shipped, canceled. */
    lines: z.array(z.tuple([count(1), count(0), count(0), count(0)])),
    /** A hash of the hold; null without one. */
    hold: z.nullable(z.string()),
    /** A hash of the status, and its code. */
    status: z.tuple([z.string(), z.nullable(z.string())]),
    address: z.nullable(reference("Address")),
    /** A hash of all other fields. */
    rest: z.string(),
    /** The service's time of the response; 0 if the service sent none. */
    at: z.number(),
    /** The follower that read it. */
    by: z.string(),
    completed: z.boolean(),
  });
export type OrderState = z.infer<ReturnType<typeof orderState>>;

/**
 * The value of an order's key. `order` is null if it was never read; `gone` if the service no longer has it. A value of another version counts
 * as absent: then everything is handed over again.
 */
export const rememberedOrder = () => z.object({ v: z.literal(1), gone: z.boolean(), order: z.nullable(orderState()) });
export type RememberedOrder = z.infer<ReturnType<typeof rememberedOrder>>;

/** The fields that the follower needs of an order. */
export const comparable = () =>
  z.object({
    orderlines: z.array(
      z.object({ index: count(1), quantity: count(0), shippedQuantity: count(0), canceledQuantity: count(0) }),
    ),
    dropshipAddressReference: z.nullish(reference("Address")),
  });

async function hashOf(value: unknown): Promise<string> {
  const hash = await sha256(canonicalJson(value));
  return btoa(String.fromCharCode(...hash.subarray(0, 9)));
}

/** Makes the state of an order that was read, with the header `Date` of its response. */
export async function stateOf(order: Order, date: string | null, by: string): Promise<OrderState> {
  const { reference: _, status, orderlines, onHold, dropshipAddressReference, ...fields } = order;
  const rest = orderlines.map(({ shippedQuantity: _, canceledQuantity: __, ...line }) => line);
  // A line is identified by its index. The order of the lines has no meaning.
  rest.sort((one, other) => one.index - other.index);
  const [hold, statusHash, restHash] = await Promise.all([
    // An order that does not say whether it is on hold is not.
    isRecord(onHold) ? hashOf(onHold) : null,
    hashOf(status ?? null),
    hashOf({ ...fields, orderlines: rest }),
  ]);
  return {
    lines: orderlines.map((line) => [line.index, line.quantity, line.shippedQuantity, line.canceledQuantity]),
    hold,
    status: [statusHash, textOf(status, "code") ?? null],
    address: dropshipAddressReference ?? null,
    rest: restHash,
    at: Date.parse(date ?? "") || 0,
    by,
    completed: !isOpen(order),
  };
}

/** The state as the caller's function receives it. */
export function followedOrder(state: OrderState | null | undefined): FollowedOrder | undefined {
  if (!state) return undefined;
  const { lines, hold, status, address, completed } = state;
  return {
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
  };
}

/**
 * How many milliseconds the clock of the service or of another process may be ahead. A stored time further in the future is ignored, because
 * one of the clocks is wrong.
 */
export const maxClockSkew = 300_000;

/** Milliseconds for which the service may not show an order that was just placed, although it sends callbacks for it. */
export const invisibleFor = 3_600_000;

/**
 * Whether a response is older than what was handed over. Shipped and canceled units stay so, and a line stays in its order (specification
 * 2.5, 3.4): a response with fewer units is older, and one with more units is newer, whatever its `Date` says. With the same units, the
 * later `Date` wins; but a follower sends its own requests for an order one after the other.
 */
export function isOlder(read: OrderState, known: OrderState, now: number): boolean {
  const units = new Map(read.lines.map(([index, , shipped, canceled]) => [index, { shipped, canceled }]));
  let hasMore = read.lines.length > known.lines.length;
  for (const [index, , shipped, canceled] of known.lines) {
    const line = units.get(index);
    if (line === undefined || line.shipped < shipped || line.canceled < canceled) return true;
    hasMore ||= line.shipped > shipped || line.canceled > canceled;
  }
  if (hasMore || read.by === known.by || read.at === 0) return false;
  return read.at < known.at && known.at <= now + maxClockSkew;
}

/**
 * Lists what is new since the state that was handed over. A handler that did not finish may have had its effect, so what is new since its state
 * is listed, too: for example, that a hold has ended.
 */
export function changesSince(
  before: OrderState | undefined,
  begun: OrderState | undefined,
  now: OrderState,
  order: Order,
): OrderChange[] {
  const changes = changesBetween(before, now, order);
  if (begun === undefined) return changes;
  const kinds = new Set(changes.map(({ kind }) => kind));
  return [...changes, ...changesBetween(begun, now, order).filter(({ kind }) => !kinds.has(kind))];
}

/**
 * The state to note before a handler is called. An earlier handler that did not finish may have had its effect. What only that handler received
 * stays in the state, so that its end is handed over even if this handler fails, too.
 */
export function begunState(
  known: OrderState | undefined,
  earlier: OrderState | undefined,
  now: OrderState,
): OrderState {
  if (earlier === undefined) return now;
  const { hold, status, address, rest } = earlier;
  return {
    ...now,
    hold: hold === (known?.hold ?? null) ? now.hold : hold,
    status: status[0] === known?.status[0] ? now.status : status,
    address: known !== undefined && address === known.address ? now.address : address,
    rest: rest === known?.rest ? now.rest : rest,
  };
}

/** Lists what is new in a state. In the first one, everything is new that differs from an order just placed. */
function changesBetween(before: OrderState | undefined, now: OrderState, { onHold }: Order): OrderChange[] {
  const changes: OrderChange[] = [];
  for (const [index, , shipped, canceled] of now.lines) {
    const [, , shippedBefore, canceledBefore] = before?.lines.find((line) => line[0] === index) ?? [index, 0, 0, 0];
    if (shipped > shippedBefore) changes.push({ kind: "shipped", index, from: shippedBefore, to: shipped });
    if (canceled > canceledBefore) changes.push({ kind: "canceled", index, from: canceledBefore, to: canceled });
  }
  const holdBefore = before?.hold ?? null;
  if (now.hold !== holdBefore) {
    changes.push(now.hold === null ? { kind: "released" } : { kind: "held", reason: textOf(onHold, "reason") ?? "" });
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

/** True if sweeps do not check the order any more. */
export const isClosed = (remembered: RememberedOrder): boolean =>
  remembered.gone || remembered.order?.completed === true;
