import { ResponseValidationError } from "../../errors/validation.ts";
import type { OrderReference } from "../../references/references.ts";
import type { Order } from "../../resources/orders/orders.schema.ts";
import { check } from "../../schemas/check.ts";
import { attempt } from "../../util/foreign.ts";
import { saysGone } from "../gone.ts";
import { comparable } from "./state.ts";

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

/** What the service said about an order. */
export type Read =
  /** `at` is the service's time of the response; 0 if it sent none. */
  { readonly order: Order; readonly at: number } | { readonly order: undefined; readonly error: unknown };

/** Reads orders, each with the time of its response. */
export class Reader {
  readonly #partner: FollowedOrderReader;

  constructor(partner: FollowedOrderReader) {
    this.#partner = partner;
  }

  /** Rejects if the order was not read. That the service does not have it is a result, too. */
  async read(reference: OrderReference, options: FollowerReadOptions): Promise<Read> {
    try {
      const { data: order, response } = await this.#partner.orders.get(reference, options).withResponse();
      assertComparable(order);
      return { order, at: timeOf(response.headers) };
    } catch (error) {
      if (!saysGone(error)) throw error;
      return { order: undefined, error };
    }
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
