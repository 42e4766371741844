import { ConflictError } from "../../errors/api.ts";
import { PodPartnerError } from "../../errors/base.ts";
import { captureCallSite, withCallSite } from "../../errors/call-site.ts";
import type { TimelineEntry } from "../../errors/timeline.ts";
import { type Answer, type Call, toCall } from "../../http/call.ts";
import { type Send, strictly } from "../../http/core.ts";
import { nameOf } from "../../http/endpoint.ts";
import { assertOptions } from "../../http/option-faults.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { OrderReference } from "../../references/references.ts";
import { type CallContext, countdown } from "../../waiting/call-context.ts";
import { cancellationsOfRest } from "./open-order.ts";
import { cancelOrder, getOrder } from "./orders.endpoints.ts";
import type { Cancellation } from "./orders.schema.ts";

/** What {@link OrdersResource.cancelRemaining} did. */
export interface CanceledRemainder {
  /** The cancellations that were carried out, with absolute totals. Empty when nothing was left to cancel. */
  readonly canceled: readonly Cancellation[];
}

/** A line was shipped after the order was read. */
const isOutdated = (error: unknown): boolean =>
  ConflictError.isInstance(error) && error.code === "canceled_quantity_exceeds_shippable";

/** Cancels all that is left of an order, by what a read of it tells. Reads again once where a line was shipped meanwhile. */
export function cancelRemaining(
  send: Send,
  context: CallContext,
  orderReference: OrderReference,
  options: RequestOptions,
): Call<CanceledRemainder> {
  const callSite = captureCallSite(cancelRemaining);
  const began = context.clock.now();
  const timeline: TimelineEntry[] = [];
  const step = async <Data>(call: Call<Data>): Promise<Answer<Data>> => {
    const at = Math.round(context.clock.now() - began);
    const add = (entries: readonly TimelineEntry[]) => {
      timeline.push(...entries.map((entry) => ({ ...entry, at: entry.at + at })));
    };
    try {
      const answer = await call.withResponse();
      add(answer.attempts);
      return answer;
    } catch (error) {
      if (PodPartnerError.isInstance(error)) {
        add(error.attempts);
        error.attempts = timeline;
      }
      throw error;
    }
  };

  const run = async (): Promise<Answer<CanceledRemainder>> => {
    assertOptions("request", options, nameOf(cancelOrder));
    const remaining = countdown(context, options.deadline);
    // What is added to the query or the body belongs to the cancellation.
    const reading = () => ({ ...options, query: undefined, body: undefined, deadline: remaining() });
    const path = { orderReference };
    for (let again = true; ; again = false) {
      const { data: order, response } = await step(send(getOrder, { path }, reading(), strictly()));
      const canceled = cancellationsOfRest(order);
      if (canceled.length === 0) return { data: { canceled }, response, attempts: timeline };
      try {
        const cancellation = send(cancelOrder, { path, body: canceled }, { ...options, deadline: remaining() });
        const { response: done } = await step(cancellation);
        return { data: { canceled }, response: done, attempts: timeline };
      } catch (error) {
        if (!again || !isOutdated(error)) throw error;
      }
    }
  };

  const answer = run().catch((error: unknown) => {
    throw withCallSite(error, callSite);
  });
  return toCall(answer, context.pacer);
}
