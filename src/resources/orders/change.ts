import { ConflictError, hasErrorObject, NotFoundError } from "../../errors/api.ts";
import { DeadlineError } from "../../errors/connection.ts";
import { OutcomeUnknownError } from "../../errors/orders.ts";
import type { Call, Found } from "../../http/call.ts";
import { rememberDoubt } from "../../http/create-once.ts";
import { type LookUp, lookUpOnce, lookUpUntil } from "../../http/look-up.ts";
import { refusesContent, verdictOf } from "../../http/outcome.ts";
import type { EncodedRequest } from "../../http/request.ts";
import { checkedOptions, noOptions, type RequestOptions, requestOptions } from "../../http/request-options.ts";
import { sendWithRetries } from "../../http/retry.ts";
import { type ApiCall, join } from "../../http/send.ts";
import type { OrderReference } from "../../references/references.ts";
import { type Address, addressFields, type CompleteAddress, completeAddressInput } from "../../schemas/address.ts";
import { matches } from "../../schemas/check.ts";
import { propertyOf } from "../../util/foreign.ts";
import type { ResponseHead } from "../../util/response-head.ts";
import { getAddress } from "../addresses/addresses.ts";
import {
  type Cancellation,
  cancellations,
  cancelOrder,
  getOrder,
  type Order,
  type Orderline,
  replaceDropshipAddress,
} from "./orders.endpoints.ts";
import type { OrdersContext } from "./place.ts";

/** The part of an order that shows whether the order is open. */
export interface OrderProgress {
  /** The orderlines, as `orders.get` returns them. */
  readonly orderlines: readonly Pick<Orderline, "index" | "quantity" | "canceledQuantity" | "shippedQuantity">[];
}

/** The fields of an order that {@link OrderProgress} has. */
const quantities = ["orderlines", "index", "quantity", "canceledQuantity", "shippedQuantity"];

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

/** What an order shows of a change whose response was lost. */
interface Shown {
  readonly response?: ResponseHead;
  readonly outcome: "made" | "not made" | "unclear";
  /** Whether no later look-up can show anything else. */
  readonly isFinal: boolean;
}

const made: Shown = { outcome: "made", isFinal: true };
/** The service may still carry out the request, or another look-up may find the order. */
const notYet: Shown = { outcome: "not made", isFinal: false };
const unclear: Shown = { outcome: "unclear", isFinal: false };

/** A change of an order. Repeating it does no harm, but the service may refuse a change that it has already made. */
interface ChangeRequest {
  readonly orderReference: OrderReference;
  /** The fields of the order that `shownBy` reads. */
  readonly needs: readonly string[];
  readonly shownBy: (order: Order, options: RequestOptions) => Shown | Promise<Shown>;
  /** For the error when no look-up can decide: the values that identify the change, and how the caller finds out its outcome. */
  readonly identifiers: Readonly<Record<string, unknown>>;
  readonly how: string;
}

/**
 * Resolves to undefined if the service says that the resource does not exist. Every 404 of the service has an error object (specification
 * 7.1): a 404 without one comes from a proxy and proves nothing.
 */
async function ifExists<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof NotFoundError && hasErrorObject(error)) return undefined;
    throw error;
  }
}

/**
 * Sends a change until the service responds. It is remembered while its outcome is unknown: a later call with the same change may be refused
 * because it was made.
 */
function makeChange(
  call: Call<never, void>,
  context: OrdersContext,
  request: EncodedRequest,
  change: ChangeRequest,
): Promise<Found<void>> {
  const key = `${call.name} ${request.url} ${String(request.body)}`;
  return rememberDoubt(call, context.inDoubt, key, undefined, () =>
    sendWithRetries(call, request, (arrival) => call.read(arrival)).catch((error: unknown) =>
      afterError(call, context, change, error),
    ),
  );
}

/**
 * Finds out what an error says about a change. A refusal after a lost response does not show whether the lost request was carried out, because
 * the order may have been shipped since. Only reading the order shows it.
 */
async function afterError(
  call: Call,
  { send, shared }: OrdersContext,
  { orderReference, needs, shownBy, identifiers, how }: ChangeRequest,
  error: unknown,
): Promise<Found<void>> {
  const { scope, core, name: endpoint } = call;
  if (scope.ended(error) || error instanceof DeadlineError) throw error;
  if (verdictOf(error, true) === "lost") {
    // Another lost response is not a refusal, and the call can be repeated.
    if (propertyOf(error, "isRetryable") !== false) throw error;
    // A redirect or a page: the error says not to repeat the call, so that only the order shows the outcome.
    call.attempts.lost(error);
  }
  const look: LookUp<Shown> = {
    lookUp: async (options) => {
      const found = await ifExists(
        send(getOrder, { path: { orderReference } }, options, { needs, internal: true }).withResponse(),
      );
      return found === undefined ? notYet : { ...(await shownBy(found.data, options)), response: found.response };
    },
    isFinal: ({ isFinal }) => isFinal,
    outcomeOf: ({ outcome }) => outcome,
  };
  const { lostUntil } = call.attempts;
  if (lostUntil === undefined) {
    // A process that was killed may have made the change, and its job runs again in one that shares the storage.
    const isAnswer = shared === undefined || !(error instanceof ConflictError) || refusesContent(error);
    const shown = isAnswer ? undefined : await lookUpOnce(call, look, { decides: false }).catch(() => undefined);
    if (shown?.outcome === "made" && shown.response) return { data: undefined, response: shown.response };
    throw error;
  }
  const unknown = (cause: unknown) => new OutcomeUnknownError({ endpoint, how, identifiers, isRetryable: true, cause });
  const ruledOut = refusesContent(error);
  const time = ruledOut ? 0 : Math.max(0, lostUntil - core.clock.now());
  const { outcome, response } = await lookUpUntil(call, time, look).catch((cause: unknown) => {
    throw scope.ended(cause) && !(cause instanceof DeadlineError) ? cause : unknown(cause);
  });
  if (outcome === "made" && response !== undefined) return { data: undefined, response };
  if (ruledOut) call.attempts.ruleOut();
  throw outcome === "unclear" && !ruledOut ? unknown(error) : error;
}

/**
 * Whether an order has the canceled quantities that a request asked for. Canceled and shipped quantities never decrease, and a request
 * cancels all of its lines or none (specification 4.7).
 */
function cancellationIn({ orderlines }: Order, sent: unknown): Shown {
  // The option `body` can put any value into a request.
  if (!matches(cancellations, sent)) return unclear;
  const lines = sent.map(({ index, canceledQuantity }) => ({
    wanted: canceledQuantity,
    line: orderlines.find((line) => line.index === index),
  }));
  if (lines.every(({ line, wanted }) => line?.canceledQuantity === wanted)) return made;
  const isImpossible = lines.some(({ line, wanted }) => !line || line.shippedQuantity + wanted > line.quantity);
  if (isImpossible) return { outcome: "not made", isFinal: true };
  if (lines.some(({ line, wanted }) => line && line.canceledQuantity < wanted)) return notYet;
  // Another client canceled more, before or after this request.
  return { outcome: "unclear", isFinal: true };
}

/** Cancels units of orderlines. */
export function cancelOrderlines(
  context: OrdersContext,
  orderReference: OrderReference,
  lines: readonly Cancellation[],
  options: RequestOptions | undefined,
): ApiCall<void> {
  return context.start(cancelOrder, options, (call) => {
    const request = call.encode({ path: { orderReference }, body: lines });
    const orderlines = call.contentOf(request);
    return makeChange(call, context, request, {
      orderReference,
      needs: quantities,
      shownBy: (order) => cancellationIn(order, orderlines),
      identifiers: { orderReference, orderlines },
      how: `Read \`orders.get("${orderReference}")\`, and compare the \`canceledQuantity\` of its lines with yours.`,
    });
  });
}

/** Whether two addresses are equal in every field. The service may leave out unused fields. */
const isSameAddress = (existing: Address, sent: CompleteAddress): boolean =>
  addressFields.every((field) => (existing[field] ?? "").trim() === sent[field].trim());

/** Replaces the address of an order. */
export function replaceAddress(
  context: OrdersContext,
  orderReference: OrderReference,
  dropshipAddress: CompleteAddress,
  options: RequestOptions | undefined,
): ApiCall<void> {
  const { send } = context;
  return context.start(replaceDropshipAddress, options, (call) => {
    const request = call.encode({ path: { orderReference }, body: dropshipAddress });
    const sent = call.contentOf(request);
    return makeChange(call, context, request, {
      orderReference,
      needs: ["dropshipAddressReference"],
      shownBy: async ({ dropshipAddressReference: addressReference }, each) => {
        if (!addressReference || !matches(completeAddressInput, sent)) return unclear;
        // A replaced address stops resolving (specification 4.4): the next look-up reads the new one. A different address proves nothing: the
        // service may write it in another form, and another client may have replaced it since.
        const use = { needs: addressFields, internal: true };
        const address = await ifExists(send(getAddress, { path: { addressReference } }, each, use));
        return address && isSameAddress(address, sent) ? made : unclear;
      },
      identifiers: { orderReference },
      how: `Read the \`dropshipAddressReference\` of \`orders.get("${orderReference}")\`, and compare its address with yours.`,
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

/** Reads an order and cancels its remaining units. If a line is shipped in between, reads the order again and retries once. */
export function cancelRest(
  context: OrdersContext,
  orderReference: OrderReference,
  options: RequestOptions = noOptions,
): ApiCall<CanceledRemainder> {
  const { start, send } = context;
  return start(cancelOrder, options, async (call) => {
    const { query, body } = checkedOptions(requestOptions, options, call.name);
    for (let again = true; ; again = false) {
      const reading = send(getOrder, { path: { orderReference } }, call.partOptions(), {
        needs: quantities,
        internal: true,
      });
      const { data: order, response } = await join(call, reading);
      const canceled = cancellationsOfRest(order);
      if (canceled.length === 0) return { data: { canceled }, response };
      try {
        // The options `query` and `body` apply to the cancellation only.
        const each = { ...call.partOptions(), query, body };
        const { response: done } = await join(call, cancelOrderlines(context, orderReference, canceled, each));
        return { data: { canceled }, response: done };
      } catch (error) {
        if (!again || !isOutdated(error)) throw error;
      }
    }
  });
}
