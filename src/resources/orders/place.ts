import { ulid } from "ulid";
import { ApiError, ConflictError, NotFoundError } from "../../errors/api.ts";
import type { CallSite } from "../../errors/call-site.ts";
import { type ComparedLine, OrderMismatchError } from "../../errors/orders.ts";
import { type Issue, ResponseValidationError } from "../../errors/validation.ts";
import type { Call, Found } from "../../http/call.ts";
import type { CallContext } from "../../http/call-context.ts";
import { type Created, createOnce, doubtfulUntil, lookFor, lookUntil, type Recovery } from "../../http/create-once.ts";
import { assertRows, type ManyOptions, type ManyRows, many, manyRows, type Rows } from "../../http/many.ts";
import { hasErrorObject, refusesContent, shortSearch } from "../../http/outcome.ts";
import { ensuring, optionFaults, type RequestOptions, taking } from "../../http/request-options.ts";
import type { ApiCall, Send, Start } from "../../http/send.ts";
import type { AddressReference, OrderReference } from "../../references/references.ts";
import type { Address } from "../../schemas/address.ts";
import type { Assumptions } from "../../schemas/assumptions.ts";
import { KeyedMutex, type Outcome } from "../../util/concurrency.ts";
import { splitFields, withFields } from "../../util/fields.ts";
import { propertyOf } from "../../util/foreign.ts";
import { getAddress } from "../addresses/addresses.endpoints.ts";
import { type CompareMode, differencesOf } from "./order-differences.ts";
import { type CreatedOrder, createOrder, getOrder, lookupOrderBy, type OrderInput } from "./orders.endpoints.ts";
import { RecentOrders } from "./recent-orders.ts";

/** A placed order. */
export interface PlacedOrder {
  /** The order's reference. Store it: all other calls about the order need it. */
  readonly reference: OrderReference;
  /** Your identifier, or the ULID that the SDK generated. */
  readonly customIdentifier: string;
  /** True if `ensure` found the order, so that this call placed none. */
  readonly existed: boolean;
  /** True if this call placed the order, but its response was lost, and a look-up found the order. */
  readonly recovered: boolean;
}

/** A new order with your own identifier, so that `ensure` finds it after a restart. */
export type IdentifiedOrderInput = OrderInput & { readonly customIdentifier: string };

/** Options of {@link OrdersResource.ensure}. */
export interface EnsureOptions extends RequestOptions {
  /**
   * Milliseconds to repeat the look-up before the order is placed. Default 0: one look-up.
   *
   * Set it if another process, such as a killed worker, may have sent the order a moment ago. The service may still be processing that
   * request, and one look-up can come too early. The maximum processing time is enough: `assumptions.processingTime`, 30 000 by default.
   * A `deadline` of the call or of the client must be longer.
   */
  readonly lookFor?: number | undefined;
  /**
   * What of an existing order to compare with the requested order. A difference throws `OrderMismatchError`. Default `"all"`.
   *
   * - `"all"`: the lines with their annotations, and the address. It costs two more requests, one for a combined order. An address that
   *   cannot be read is not compared.
   * - `"lines"`: the lines (product, image, quantity), for orders whose address may have been replaced. It costs one more request.
   * - `false`: nothing.
   */
  readonly compare?: "all" | "lines" | false | undefined;
}

/** What placing an order needs of the client. */
export interface Placing {
  readonly send: Send;
  readonly start: Start;
  readonly recent: RecentOrders;
  readonly mutex: KeyedMutex;
  readonly lookupEndpoint: ReturnType<typeof lookupOrderBy>;
  readonly identifierParameter: string;
}

export const createPlacing = (send: Send, assumptions: Assumptions, { start, clock }: CallContext): Placing => ({
  send,
  start,
  recent: new RecentOrders(clock, assumptions.processingTime),
  mutex: new KeyedMutex(),
  lookupEndpoint: lookupOrderBy(assumptions),
  identifierParameter: assumptions.customIdentifierParameter,
});

/** Places a new order, at most once. */
export function create(placing: Placing, order: OrderInput, options?: RequestOptions): ApiCall<PlacedOrder> {
  const identified = withFields(order, ({ customIdentifier = ulid(), ...fields }) => ({ ...fields, customIdentifier }));
  return place(placing, identified, [], options, { compare: false });
}

/** Looks an order up, and places it if it does not exist. */
export function ensure(
  placing: Placing,
  order: IdentifiedOrderInput,
  options: EnsureOptions = {},
): ApiCall<PlacedOrder> {
  const [own, rest] = splitFields(options, "lookFor", "compare");
  const { lookFor = 0, compare = "all" } = own;
  // The caller's object may change while the call waits.
  const copy = withFields(order, (fields) => fields);
  const missing = copy !== order && copy.customIdentifier === undefined ? [missingIdentifier] : [];
  return place(placing, copy, [...missing, ...optionFaults(own, "ensure")], rest, { lookFor, compare });
}

/** Places an order. With `lookFor`, it is looked up for so many milliseconds before it is sent. */
function place(
  placing: Placing,
  order: OrderInput,
  faults: readonly Issue[],
  options: RequestOptions | undefined,
  { lookFor: time, compare }: { readonly lookFor?: number; readonly compare: CompareMode | false },
): ApiCall<PlacedOrder> {
  const { recent, mutex } = placing;
  return placing.start(createOrder, options, async (call) => {
    // A `lookFor` that is no number is among the faults.
    const isTooLong = faults.length === 0 && time !== undefined && time > 0 && time >= call.scope.remaining();
    const request = call.encode({ body: order, faults: isTooLong ? [neverPlaced] : faults });
    const sent = call.contentOf(request);
    const customIdentifier = String(propertyOf(sent, "customIdentifier"));
    const recovery = orderRecovery(placing, customIdentifier, time !== undefined);
    const run = async () => {
      try {
        const make = () => createOnce(call, request, recovery);
        const find = (ms: number) => lookUntil(call, ms, lookFor(call, recovery));
        const placed =
          time === undefined
            ? { ...(await make()), existed: false }
            : await findOrMake(find, Math.max(time, recent.doubt(customIdentifier)), make);
        const { data, response, existed, recovered } = placed;
        if (compare && (existed || recovered)) {
          await assertEqual(placing, call, data.reference, { customIdentifier, order: sent }, compare);
        }
        // A result from memory is not stored again. Otherwise the memory would never expire.
        if (recent.known(customIdentifier)?.data !== data) recent.record(customIdentifier, { data, response });
        return { data: { reference: data.reference, customIdentifier, existed, recovered }, response };
      } catch (error) {
        const until = doubtfulUntil(call);
        if (until !== undefined) recent.suspect(customIdentifier, until);
        throw error;
      }
    };
    // Calls with the same identifier run one after the other, also `create` and `ensure`: the second finds the order of the first.
    return mutex.take(customIdentifier, run, (turn) => call.within(turn));
  });
}

/**
 * Finds an order, or makes it. After a conflict it looks again: another process may have placed the order since the look-up, or a gateway
 * may have sent the request twice.
 */
async function findOrMake(
  find: (time: number) => Promise<Created<CreatedOrder> | undefined>,
  time: number,
  make: () => Promise<Created<CreatedOrder>>,
): Promise<Created<CreatedOrder> & { readonly existed: boolean }> {
  let found = await find(time);
  if (!found) {
    try {
      return { ...(await make()), existed: false };
    } catch (error) {
      if (!(error instanceof ConflictError) || refusesContent(error)) throw error;
      found = await find(shortSearch);
      if (!found) throw error;
    }
  }
  return { ...found, existed: true, recovered: false };
}

/** Looks up an order by its custom identifier. */
export function lookup(
  { send, lookupEndpoint, identifierParameter }: Placing,
  by: { readonly customIdentifier: string },
  options?: RequestOptions,
  own = false,
): ApiCall<OrderReference> {
  const query = withFields(by, ({ customIdentifier, ...unknown }) => ({
    [identifierParameter]: customIdentifier,
    ...unknown,
  }));
  return send(lookupEndpoint, { query }, options, own);
}

/** Finds an order by its custom identifier after its response was lost. */
const orderRecovery = (placing: Placing, customIdentifier: string, repeatable: boolean): Recovery<CreatedOrder> => ({
  look: async (options) => (await find(placing, customIdentifier, options)) ?? placing.recent.known(customIdentifier),
  repeatable,
  identifiers: { customIdentifier },
  how: `Call \`orders.ensure\` with the same customIdentifier (${customIdentifier}): it looks up the order before it creates one.`,
});

/** Finds an order; undefined if no order has this identifier. */
async function find(
  placing: Placing,
  customIdentifier: string,
  options: RequestOptions,
): Promise<Found<CreatedOrder> | undefined> {
  try {
    const { data: reference, response } = await lookup(placing, { customIdentifier }, options, true).withResponse();
    return { data: { reference }, response };
  } catch (error) {
    // Every 404 of the service has an error object (specification 7.1). A 404 without one comes from a proxy and proves nothing.
    if (error instanceof NotFoundError && hasErrorObject(error)) return undefined;
    throw error;
  }
}

/** Throws if the existing order has another content. */
async function assertEqual(
  { send }: Placing,
  call: Call,
  orderReference: OrderReference,
  sent: { readonly customIdentifier: string; readonly order: unknown },
  comparison: CompareMode,
): Promise<void> {
  // A look-up can show an order before it can be read.
  const existing = await lookUntil(call, call.core.processingTime, {
    look: (options) => send(getOrder, { path: { orderReference } }, options, true),
    isFinal: () => true,
    outcomeOf: () => "compared",
  });
  const { dropshipAddressReference } = existing;
  const address =
    comparison === "all" && dropshipAddressReference
      ? await readAddress(send, call, dropshipAddressReference)
      : undefined;
  const differences = differencesOf(existing, address, sent.order, comparison);
  if (differences.length === 0) return;
  const lines = propertyOf(sent.order, "orderlines");
  const requested = Array.isArray(lines) ? lines.filter(isComparedLine) : [];
  throw new OrderMismatchError({ customIdentifier: sent.customIdentifier, existing, requested, differences });
}

/** The address; undefined if the service does not show it, or shows it in a form that the SDK does not know. */
async function readAddress(send: Send, call: Call, addressReference: AddressReference): Promise<Address | undefined> {
  try {
    return await call.ask(
      (options) => send(getAddress, { path: { addressReference } }, options, true),
      () => "compared",
    );
  } catch (error) {
    // A replaced address stops resolving (specification 4.4).
    if ((error instanceof ApiError && !error.isRetryable) || error instanceof ResponseValidationError) return undefined;
    throw error;
  }
}

const isComparedLine = (line: unknown): line is ComparedLine =>
  typeof propertyOf(line, "productReference") === "string" && typeof propertyOf(line, "quantity") === "number";

const missingIdentifier: Issue = {
  path: ["order", "customIdentifier"],
  message: "is required: `ensure` uses it to find the order. Set your own identifier, unique per order",
};

const neverPlaced: Issue = {
  path: ["lookFor"],
  message: "must be shorter than the `deadline` of the call: it would end before the order is placed",
};

/** Options of {@link OrdersResource.ensureMany}. */
export interface EnsureManyOptions extends ManyOptions, EnsureOptions {
  /** Maximum number of orders at the same time. Default 8. */
  readonly concurrency?: number | undefined;
}

const ensureManyOptions = taking(() => ({ ...ensuring(), ...manyRows() }));

/** Ensures that there is an order for each row. */
export async function* ensureRows(
  placing: Placing,
  rows: Rows<unknown>,
  options: ManyRows<IdentifiedOrderInput, EnsureManyOptions>,
  callSite: CallSite,
): AsyncGenerator<Outcome<unknown, PlacedOrder>, void, undefined> {
  assertRows(ensureManyOptions, rows, options);
  // A started creation is finished, also if the caller leaves the loop.
  const work = (order: IdentifiedOrderInput, each: EnsureOptions) => ensure(placing, order, each);
  yield* many(rows, options, { concurrency: 8, work, callSite });
}
