import { ConflictError, NotFoundError } from "../../errors/api.ts";
import { PodPartnerError } from "../../errors/base.ts";
import { DeadlineError } from "../../errors/connection.ts";
import { OutcomeUnknownError } from "../../errors/orders.ts";
import type { Call, Found } from "../../http/call.ts";
import { join } from "../../http/call-context.ts";
import { lookUntil } from "../../http/create-once.ts";
import { nameOf } from "../../http/endpoint.ts";
import { hasErrorObject, refusesContent, verdictOf } from "../../http/outcome.ts";
import type { EncodedRequest } from "../../http/request.ts";
import { assertOptions, noOptions, type RequestOptions } from "../../http/request-options.ts";
import { sendWithRetries } from "../../http/retry.ts";
import type { ApiCall, Send, Start } from "../../http/send.ts";
import type { OrderReference } from "../../references/references.ts";
import { type Address, addressFields, type CompleteAddress, completeAddressInput } from "../../schemas/address.ts";
import { check } from "../../schemas/check.ts";
import type { ResponseHead } from "../../util/response-head.ts";
import { getAddress } from "../addresses/addresses.endpoints.ts";
import {
  type Cancellation,
  cancellations,
  cancelOrder,
  getOrder,
  type Order,
  type Orderline,
  replaceDropshipAddress,
} from "./orders.endpoints.ts";

/** The part of an order that shows whether it is open. */
export interface OrderProgress {
  /** The orderlines, as `orders.get` returns them. */
  readonly orderlines: readonly Pick<Orderline, "index" | "quantity" | "canceledQuantity" | "shippedQuantity">[];
}

/** The cancellations of all units that are neither shipped nor canceled, with absolute totals (specification 4.7). */
const cancellationsOfRest = ({ orderlines }: OrderProgress): readonly Cancellation[] =>
  orderlines
    .filter(({ quantity, canceledQuantity, shippedQuantity }) => canceledQuantity + shippedQuantity < quantity)
    .map(({ index, quantity, shippedQuantity }) => ({ index, canceledQuantity: quantity - shippedQuantity }));

/**
 * Returns true if an order is open: at least one unit is neither shipped nor canceled (specification 3.4).
 *
 * @example
 * const order = await partner.orders.get(orderReference);
 * if (isOpen(order)) await partner.orders.cancelRemaining(orderReference);
 */
export const isOpen = (order: OrderProgress): boolean => cancellationsOfRest(order).length > 0;

/** What a look at an order shows about a change whose response was lost. */
interface Sight {
  /** Whether the change was made; `unclear` if the order looks the same in both cases. */
  readonly outcome: "made" | "not made" | "unclear";
  /** Whether a later look cannot show anything else. */
  readonly final: boolean;
  readonly response?: ResponseHead;
}

/** A change of an order. The service carries it out again without harm, but it may refuse what it has already done. */
interface Change {
  /** Looks at the order once. */
  readonly look: (options: RequestOptions) => Promise<Sight>;
  /** The error of a call whose outcome no look can decide. */
  readonly unknown: (cause: unknown) => OutcomeUnknownError;
}

/** The order; undefined if the service has none with this reference. A 404 without an error object comes from a proxy. */
async function readOrder(send: Send, orderReference: OrderReference, options: RequestOptions) {
  try {
    return await send(getOrder, { path: { orderReference } }, options, true).withResponse();
  } catch (error) {
    if (error instanceof NotFoundError && hasErrorObject(error)) return undefined;
    throw error;
  }
}

/** No look has decided so far. */
const unclear: Sight = { outcome: "unclear", final: false };

// The option `body` can put any value into a request.
const areCancellations = (sent: unknown): sent is readonly Cancellation[] => check(cancellations, sent, []).ok;
const isAddress = (sent: unknown): sent is CompleteAddress => check(completeAddressInput, sent, []).ok;

/** The service may still carry the request out, or another look may find the order. */
const notYet: Sight = { outcome: "not made", final: false };

/**
 * Sends a change until the service responds. After a lost response, a refusal does not show whether the lost request was carried out: the
 * order may have been shipped since. Only a look at the order shows it.
 */
async function makeChange(call: Call<never, void>, request: EncodedRequest, change: Change): Promise<Found<void>> {
  const aborted = (error: unknown) => call.scope.ended(error) && !(error instanceof DeadlineError);
  try {
    return await sendWithRetries(call, request, (arrival) => call.read(arrival));
  } catch (error) {
    const until = call.lostUntil;
    if (until === undefined || !(error instanceof PodPartnerError) || error instanceof DeadlineError) throw error;
    // An error that reports a lost response refuses nothing.
    if (aborted(error) || verdictOf(error, true) === "lost") throw error;
    const ruledOut = refusesContent(error);
    const time = ruledOut ? 0 : Math.max(0, until - call.core.clock.now());
    const { outcome, response } = await lookUntil(call, time, {
      look: change.look,
      isFinal: ({ final }) => final,
      outcomeOf: ({ outcome }) => outcome,
    }).catch((cause: unknown) => {
      throw aborted(cause) ? cause : change.unknown(cause);
    });
    if (outcome === "made" && response !== undefined) return { data: undefined, response };
    throw outcome === "unclear" && !ruledOut ? change.unknown(error) : error;
  }
}

/**
 * Whether an order has the canceled quantities that a request asked for. Canceled and shipped quantities never decrease, and a request
 * cancels all of its lines or none (specification 4.7).
 */
function sightOf({ orderlines }: Order, wanted: readonly Cancellation[]): Omit<Sight, "response"> {
  const lines = wanted.map(({ index, canceledQuantity }) => ({
    wanted: canceledQuantity,
    line: orderlines.find((line) => line.index === index),
  }));
  if (lines.every(({ line, wanted }) => line?.canceledQuantity === wanted)) return { outcome: "made", final: true };
  const impossible = lines.some(
    ({ line, wanted }) => line === undefined || line.shippedQuantity + wanted > line.quantity,
  );
  if (impossible) return { outcome: "not made", final: true };
  if (lines.some(({ line, wanted }) => line !== undefined && line.canceledQuantity < wanted)) return notYet;
  // Another client canceled more, before or after this request.
  return { outcome: "unclear", final: true };
}

/** Cancels units of orderlines. */
export function cancelOrderlines(
  start: Start,
  send: Send,
  orderReference: OrderReference,
  lines: readonly Cancellation[],
  options: RequestOptions | undefined,
): ApiCall<void> {
  return start(cancelOrder, options, (call) => {
    const request = call.encode({ path: { orderReference }, body: lines });
    const wanted = call.contentOf(request);
    return makeChange(call, request, {
      look: async (each) => {
        const found = await readOrder(send, orderReference, each);
        if (found === undefined) return notYet;
        if (!areCancellations(wanted)) return unclear;
        return { ...sightOf(found.data, wanted), response: found.response };
      },
      unknown: (cause) =>
        new OutcomeUnknownError({
          endpoint: nameOf(cancelOrder),
          how: `Read \`orders.get("${orderReference}")\`, and compare the \`canceledQuantity\` of its lines with yours.`,
          identifiers: { orderReference, orderlines: wanted },
          isRetryable: true,
          cause,
        }),
    });
  });
}

/** Whether two addresses are equal in every field. The service may leave out unused fields. */
const isSameAddress = (existing: Address, sent: CompleteAddress): boolean =>
  addressFields.every((field) => (existing[field] ?? "").trim() === sent[field].trim());

/** Replaces the address of an order. */
export function replaceAddress(
  start: Start,
  send: Send,
  orderReference: OrderReference,
  dropshipAddress: CompleteAddress,
  options: RequestOptions | undefined,
): ApiCall<void> {
  return start(replaceDropshipAddress, options, (call) => {
    const request = call.encode({ path: { orderReference }, body: dropshipAddress });
    const wanted = call.contentOf(request);
    return makeChange(call, request, {
      look: async (each) => {
        const found = await readOrder(send, orderReference, each);
        if (found === undefined) return notYet;
        const addressReference = found.data.dropshipAddressReference;
        if (addressReference === undefined || addressReference === null || !isAddress(wanted)) return unclear;
        try {
          const address = await send(getAddress, { path: { addressReference } }, each, true);
          // Another address is no proof: the service may write an address differently, and another client may have replaced it since.
          if (!isSameAddress(address, wanted)) return unclear;
          return { outcome: "made", final: true, response: found.response };
        } catch (error) {
          // A replaced address stops resolving (specification 4.4): the next look reads the new one.
          if (error instanceof NotFoundError && hasErrorObject(error)) return unclear;
          throw error;
        }
      },
      unknown: (cause) =>
        new OutcomeUnknownError({
          endpoint: nameOf(replaceDropshipAddress),
          how: `Read the \`dropshipAddressReference\` of \`orders.get("${orderReference}")\`, and compare its address with yours.`,
          identifiers: { orderReference },
          isRetryable: true,
          cause,
        }),
    });
  });
}

/** The result of {@link OrdersResource.cancelRemaining}. */
export interface CanceledRemainder {
  /** The cancellations that were carried out, with absolute totals. Empty if the order had no remaining units. */
  readonly canceled: readonly Cancellation[];
}

/** Whether an orderline was shipped after the order was read. */
const isOutdated = (error: unknown): boolean =>
  ConflictError.isInstance(error) && error.code === "canceled_quantity_exceeds_shippable";

/** Reads an order and cancels its remaining units. If a line is shipped in between, it reads the order once more and retries. */
export function cancelRest(
  start: Start,
  send: Send,
  orderReference: OrderReference,
  options: RequestOptions = noOptions,
): ApiCall<CanceledRemainder> {
  return start(cancelOrder, options, async (call) => {
    assertOptions("request", options, call.name);
    const { query, body } = call.options;
    for (let again = true; ; again = false) {
      const reading = send(getOrder, { path: { orderReference } }, call.partOptions(), true);
      const { data: order, response } = await join(call, reading);
      const canceled = cancellationsOfRest(order);
      if (canceled.length === 0) return { data: { canceled }, response };
      try {
        // The options `query` and `body` apply to the cancellation only.
        const each = { ...call.partOptions(), query, body };
        const { response: done } = await join(call, cancelOrderlines(start, send, orderReference, canceled, each));
        return { data: { canceled }, response: done };
      } catch (error) {
        if (!again || !isOutdated(error)) throw error;
      }
    }
  });
}
