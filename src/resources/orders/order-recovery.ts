import { NotFoundError } from "../../errors/api.ts";
import type { Call, WithResponse } from "../../http/call.ts";
import type { Recovery } from "../../http/recovery.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { OrderReference } from "../../references/references.ts";
import type { CreatedOrder } from "./order-input.schema.ts";

/** Looks an order up by its custom identifier. */
export type LookupOrder = (customIdentifier: string, options?: RequestOptions) => Call<OrderReference>;

/** The answer to a look-up; undefined when no order has this identifier. */
export async function findOrder(
  lookup: LookupOrder,
  customIdentifier: string,
  options?: RequestOptions,
): Promise<WithResponse<OrderReference> | undefined> {
  try {
    return await lookup(customIdentifier, options).withResponse();
  } catch (error) {
    // Every 404 of the service has an error object (specification 7.1); a proxy's has none, and decides nothing.
    if (error instanceof NotFoundError && error.code !== undefined) return undefined;
    throw error;
  }
}

/** An order whose answer was lost is found again by its custom identifier. */
export const orderRecovery = (lookup: LookupOrder, customIdentifier: string): Recovery<CreatedOrder> => ({
  look: async (options) => {
    const found = await findOrder(lookup, customIdentifier, options);
    return found && { data: { reference: found.data }, response: found.response };
  },
  find: { customIdentifier },
  how: `Call \`orders.ensure\` with the same customIdentifier (${customIdentifier}): it looks the order up before it creates one.`,
});
