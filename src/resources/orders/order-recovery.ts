import { NotFoundError } from "../../errors/api.ts";
import type { ApiCall } from "../../http/call/call.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import type { Found, Recovery } from "../../http/retry/recovery.ts";
import { hasErrorObject } from "../../http/retry/retry.ts";
import type { OrderReference } from "../../references/references.ts";
import type { CreatedOrder } from "./order-input.schema.ts";
import type { RecentOrders } from "./recent-orders.ts";

/** Looks up the order by its custom identifier. */
export type LookupOrder = (options: RequestOptions) => ApiCall<OrderReference>;

/** Looks up an order; undefined if no order has this identifier. */
async function findOrder(lookup: LookupOrder, options: RequestOptions): Promise<Found<CreatedOrder> | undefined> {
  try {
    const { data: reference, response } = await lookup(options).withResponse();
    return { data: { reference }, response };
  } catch (error) {
    // Every 404 of the service has an error object (specification 7.1). A 404 without one comes from a proxy and proves nothing.
    if (error instanceof NotFoundError && hasErrorObject(error)) return undefined;
    throw error;
  }
}

/** Finds an order by its custom identifier after its response was lost. */
export const orderRecovery = (
  lookup: LookupOrder,
  customIdentifier: string,
  recent: RecentOrders,
  repeatable: boolean,
): Recovery<CreatedOrder> => ({
  look: async (options) => (await findOrder(lookup, options)) ?? recent.known(customIdentifier),
  repeatable,
  identifiers: { customIdentifier },
  how: `Call \`orders.ensure\` with the same customIdentifier (${customIdentifier}): it looks up the order before it creates one.`,
});
