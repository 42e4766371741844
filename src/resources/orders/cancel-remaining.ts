import { ConflictError } from "../../errors/api.ts";
import { nameOf } from "../../http/endpoint.ts";
import { assertOptions, type RequestOptions } from "../../http/request-options.ts";
import type { CallResult, Send } from "../../http/send.ts";
import type { OrderReference } from "../../references/references.ts";
import { type CallContext, countdown, JointTimeline } from "../../waiting/call-context.ts";
import { cancelOrderlines } from "./change.ts";
import { cancellationsOfRest } from "./open-order.ts";
import { type Cancellation, cancelOrder, getOrder } from "./orders.endpoints.ts";

/** The result of {@link OrdersResource.cancelRemaining}. */
export interface CanceledRemainder {
  /** The cancellations that were carried out, with absolute totals. Empty if the order had no remaining units. */
  readonly canceled: readonly Cancellation[];
}

/** Whether an orderline was shipped after the order was read. */
const isOutdated = (error: unknown): boolean =>
  ConflictError.isInstance(error) && error.code === "canceled_quantity_exceeds_shippable";

/** Reads an order and cancels its remaining units. If a line is shipped in between, it reads the order once more and retries. */
export async function cancelRest(
  send: Send,
  context: CallContext,
  orderReference: OrderReference,
  options: RequestOptions,
): Promise<CallResult<CanceledRemainder>> {
  const timeline = new JointTimeline(context.clock);
  assertOptions("request", options, nameOf(cancelOrder));
  const remaining = countdown(context, options.deadline);
  // The options `query` and `body` apply to the cancellation only.
  const reading = () => ({ ...options, query: undefined, body: undefined, deadline: remaining() });
  const path = { orderReference };
  for (let again = true; ; again = false) {
    const { data: order, response } = await timeline.add(send(getOrder, { path }, reading(), true));
    const canceled = cancellationsOfRest(order);
    if (canceled.length === 0) return { data: { canceled }, response, timeline: timeline.entries };
    try {
      const cancellation = cancelOrderlines(context.start, send, orderReference, canceled, {
        ...options,
        deadline: remaining(),
      });
      const { response: done } = await timeline.add(cancellation);
      return { data: { canceled }, response: done, timeline: timeline.entries };
    } catch (error) {
      if (!again || !isOutdated(error)) throw error;
    }
  }
}
