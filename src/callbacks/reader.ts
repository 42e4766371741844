import { GoneError, NotFoundError } from "../errors/api.ts";
import { ResponseValidationError } from "../errors/validation.ts";
import type { OrderReference } from "../references/references.ts";
import type { Order } from "../resources/orders/orders.schema.ts";
import { check } from "../schemas/check.ts";
import { attempt } from "../util/foreign.ts";
import { comparable } from "./order-state.ts";

/** How an order is read. */
export interface FollowerReadOptions {
  readonly priority: "high" | "low";
  readonly deadline?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The part of a `PodPartner` that the follower uses. */
export interface FollowedOrderReader {
  readonly orders: {
    get(
      orderReference: OrderReference,
      options: FollowerReadOptions,
    ): { withResponse(): PromiseLike<{ readonly data: Order; readonly response: { readonly headers: Headers } }> };
  };
}

/**
 * Whether the service itself says that the order does not exist. Its errors have a code (specification 7); the 404 of a gateway or of a
 * wrong base URL has none, and then the order may well exist.
 */
export const saysGone = (error: unknown): boolean =>
  (NotFoundError.isInstance(error) || GoneError.isInstance(error)) && error.code !== undefined;

/** What the service said about an order: the order with the service's time of the response (0 if it sent none), or why it has none. */
type Read = { readonly order: Order; readonly at: number } | { readonly order: undefined; readonly error: unknown };

/** Reads an order. Rejects if it was not read. That the service does not have it is a result, too. */
export async function readOrder(
  partner: FollowedOrderReader,
  reference: OrderReference,
  options: FollowerReadOptions,
): Promise<Read> {
  try {
    const { data: order, response } = await partner.orders.get(reference, options).withResponse();
    assertComparable(order);
    return { order, at: timeOf(response.headers) };
  } catch (error) {
    if (!saysGone(error)) throw error;
    return { order: undefined, error };
  }
}

/** A client with `responses: "report"` returns orders that break their schema. Without quantities, an order would look completed. */
function assertComparable(order: Order): void {
  const checked = check(comparable, order, ["order"]);
  if (checked.ok) return;
  const response = { status: 200, headers: {}, body: undefined };
  throw new ResponseValidationError({ issues: checked.issues, response, endpoint: "GET /orders/{orderReference}" });
}

function timeOf(headers: Headers): number {
  const at = Date.parse(attempt(() => headers.get("date")) ?? "");
  return Number.isFinite(at) ? at : 0;
}
