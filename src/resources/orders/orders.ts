import { captureCallSite } from "../../errors/call-site.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, CallContext } from "../../http/send.ts";
import { type ListOptions, type Paginator, paginate } from "../../pagination/paginator.ts";
import type { OrderReference } from "../../references/references.ts";
import type { CompleteAddress } from "../../schemas/address.ts";
import type { Assumptions } from "../../schemas/assumptions.ts";
import type { Outcome } from "../../util/concurrency.ts";
import { type ExactRow, type GetMany, getMany, iterateOnce, type ManyRows, type MapRows, type Rows } from "../many.ts";
import { type CanceledRemainder, cancelOrderlines, cancelRest, replaceAddress } from "./change.ts";
import {
  type Cancellation,
  getOrder,
  listOrders,
  lookupOrderBy,
  type Order,
  type OrderInput,
  type OrderSummary,
  type QuoteInput,
  quoteOrder,
  type ShippingOption,
} from "./orders.endpoints.ts";
import {
  create,
  type EnsureManyOptions,
  type EnsureOptions,
  ensure,
  ensureRows,
  type IdentifiedOrderInput,
  lookup,
  type OrdersContext,
  type OrdersMemory,
  type PlacedOrder,
} from "./place.ts";

/** Places, reads, cancels and quotes orders (specification 2.4, 4.7). */
export class OrdersResource {
  readonly #context: OrdersContext;

  /** @internal */
  constructor(context: CallContext, assumptions: Assumptions, memory: OrdersMemory) {
    this.#context = { ...context, ...memory, assumptions, lookupEndpoint: lookupOrderBy(assumptions) };
  }

  /**
   * Places an order, never twice (specification 4.7). If the response is lost, the SDK looks up the order by its `customIdentifier`
   * before it sends the request again. To repeat the call after an error or a restart, use {@link OrdersResource.ensure}.
   *
   * @throws `RequestValidationError` before sending, with the path of each issue.
   * @throws `OutcomeUnknownError` if the response was lost and look-ups could not find out whether the order exists.
   * @example
   * const { reference } = await partner.orders.create({
   *   storeReference, shippingKind: "dropship", customIdentifier: "shop-1001",
   *   dropshipAddress: { firstname: "Ada", lastname: "Jansen", streetname: "Dam", housenumber: "1", zipcode: "1012JS",
   *     city: "Amsterdam", countryCode: "NL", email: "ada@example.com" },
   *   orderlines: [{ productReference, imageReference, quantity: 1 }],
   * });
   */
  create(order: OrderInput, options?: RequestOptions): ApiCall<PlacedOrder> {
    return create(this.#context, order, options);
  }

  /**
   * Ensures that an order with this `customIdentifier` exists: looks it up, and places it only if it does not exist (specification 4.7,
   * 4.10). You can safely repeat the call. With a `storage` that your processes share, this holds for all of them, and after any kill.
   *
   * If the order exists, its lines, annotations and address are compared with yours, which costs two more requests. After a replaced
   * address, pass `compare: "lines"`. `compare: false` compares nothing.
   *
   * @throws `OrderMismatchError` if the existing order has other content: `differences` names the fields.
   * @throws `RequestValidationError` before sending, if the order is invalid or has no `customIdentifier`.
   * @throws `OutcomeUnknownError` if the response was lost and look-ups could not find out whether the order exists.
   * @example
   * const { reference, existed } = await partner.orders.ensure({ ...order, customIdentifier: "shop-1001" });
   * if (existed) console.log(`${reference} already existed`);
   */
  ensure(order: IdentifiedOrderInput, options?: EnsureOptions): ApiCall<PlacedOrder> {
    return ensure(this.#context, order, options);
  }

  /**
   * Places any number of orders. Each row is an order without additional fields. It works like the overload with options.
   *
   * @throws The same errors as the overload with options.
   * @example
   * for await (const { ok, input } of partner.orders.ensureMany(orders)) console.log(input.customIdentifier, ok);
   */
  ensureMany<Row extends IdentifiedOrderInput>(
    rows: Rows<ExactRow<Row, IdentifiedOrderInput>>,
  ): AsyncIterable<Outcome<Row, PlacedOrder>>;
  /**
   * Places any number of orders with {@link OrdersResource.ensure}, in bounded memory. It yields each outcome with its row when it is
   * ready. One failure does not stop the other orders. Repeating the call places no order twice.
   *
   * `map` converts your row to an order. Without it, each row is an order without additional fields. If `rows` throws or the signal aborts,
   * no more rows are read: the iteration yields the outcomes of started orders, then throws the reason. Iterate the outcomes once; a second
   * loop throws.
   *
   * @throws `RequestValidationError` if an option or `rows` is invalid.
   * @throws `AlreadyReadError` in a second loop over the same outcomes.
   * @example
   * const map = ({ id, quantity }: (typeof rows)[number]) =>
   *   ({ ...order, customIdentifier: `shop-${id}`, orderlines: [{ productReference, imageReference, quantity }] });
   * for await (const outcome of partner.orders.ensureMany(rows, { map })) {
   *   if (outcome.ok) save(outcome.input.id, outcome.value.reference);
   *   else report(outcome.input.id, outcome.error);
   * }
   */
  ensureMany<Row>(
    rows: Rows<Row>,
    options: EnsureManyOptions & MapRows<Row, IdentifiedOrderInput>,
  ): AsyncIterable<Outcome<Row, PlacedOrder>>;
  ensureMany(
    rows: Rows<unknown>,
    options: ManyRows<IdentifiedOrderInput, EnsureManyOptions> = {},
  ): AsyncIterable<Outcome<unknown, PlacedOrder>> {
    return iterateOnce("orders.ensureMany", ensureRows(this.#context, rows, options, captureCallSite(ensureMany)));
  }

  /**
   * Iterates all orders, typically the newest first (specification 4.7, 4.11).
   *
   * @example
   * for await (const { reference } of partner.orders.list()) console.log(reference);
   */
  list(options?: ListOptions): Paginator<OrderSummary> {
    return paginate(this.#context.send, listOrders, {}, options);
  }

  /**
   * Reads one order with its status, its lines and their shipped and canceled quantities (specification 2.4, 4.7).
   *
   * @throws `NotFoundError` if no order of this environment has this reference.
   * @example
   * const { orderlines, onHold } = await partner.orders.get(orderReference);
   */
  get(orderReference: OrderReference, options?: RequestOptions): ApiCall<Order> {
    return this.#context.send(getOrder, { path: { orderReference } }, options);
  }

  /**
   * Reads many orders by their references. Each is one request with low priority, at most 16 at a time. It yields each outcome with its
   * row when it is ready. One failure does not stop the other rows. Iterate the outcomes once.
   *
   * `map` returns the reference for your row. Without it, each row is a reference. `concurrency` is the number of requests at a time.
   *
   * @throws `RequestValidationError` if an option or `rows` is invalid.
   * @example
   * for await (const outcome of partner.orders.getMany(partner.orders.list(), { map: ({ reference }) => reference })) {
   *   if (outcome.ok) console.log(outcome.value.reference);
   *   else console.error(outcome.input, outcome.error);
   * }
   */
  get getMany(): GetMany<OrderReference, Order> {
    return getMany("orders.getMany", this.#context, this.get.bind(this));
  }

  /**
   * Cancels units of orderlines, either on all listed lines or on none (specification 4.7). `canceledQuantity` is the absolute total of
   * its line, so you can safely repeat the call.
   *
   * @param lines The lines to cancel, each once, by their `index`.
   * @throws `ConflictError` with `already_in_production`, `canceled_quantity_exceeds_shippable` or
   * `canceled_quantity_below_current`; `PermissionDeniedError` with `store_not_writable_via_api`. The call has canceled no unit.
   * @throws `OutcomeUnknownError` if a response was lost, a repeated request is refused, and the order does not show why.
   * @example
   * await partner.orders.cancel(orderReference, [{ index: 1, canceledQuantity: 2 }]);
   */
  cancel(orderReference: OrderReference, lines: readonly Cancellation[], options?: RequestOptions): ApiCall<void> {
    return cancelOrderlines(this.#context, orderReference, lines, options);
  }

  /**
   * Cancels all units of an order that are neither shipped nor canceled (specification 4.7). It reads the order, then cancels the
   * remaining units of all lines or of none. You can safely repeat the call.
   *
   * If a line is shipped between the two requests (`canceled_quantity_exceeds_shippable`), it reads the order and cancels once more. A
   * second conflict is thrown. `deadline` limits all requests together. `query` and `body` apply to the cancellation only.
   *
   * @throws `ConflictError` with `already_in_production` if the order is in production. The call has canceled no unit.
   * @throws `PermissionDeniedError` with `store_not_writable_via_api`; `NotFoundError` if no order has this reference.
   * @throws `OutcomeUnknownError` if a response was lost, a repeated request is refused, and the order does not show why.
   * @example
   * const { canceled } = await partner.orders.cancelRemaining(orderReference);
   * for (const { index, canceledQuantity } of canceled) console.log(`line ${index}: ${canceledQuantity} canceled in total`);
   */
  cancelRemaining(orderReference: OrderReference, options?: RequestOptions): ApiCall<CanceledRemainder> {
    return cancelRest(this.#context, orderReference, options);
  }

  /**
   * Replaces the complete destination address of an open dropship order (specification 4.7). The order gets a new
   * `dropshipAddressReference`. An existing shipment keeps its address. You can safely repeat the call.
   *
   * Every field must be present, `""` where there is none: the service keeps no field of the old address.
   *
   * @throws `ConflictError` with `order_completed`, `order_not_dropship` or `replacement_address_locked`. The address is not replaced.
   * @throws `OutcomeUnknownError` if a response was lost, a repeated request is refused, and the order does not show the new address.
   * @throws `RequestValidationError` before sending, if a field is missing or the address breaks a rule of specification 2.3.
   * @example
   * await partner.orders.replaceDropshipAddress(orderReference, {
   *   company: "", firstname: "Ada", lastname: "Jansen", streetname: "Dam", housenumber: "2", housenumberAddition: "", additionalInfo: "",
   *   state: "", zipcode: "1012JS", city: "Amsterdam", countryCode: "NL", phonenumber: "", email: "ada@example.com",
   * });
   */
  replaceDropshipAddress(
    orderReference: OrderReference,
    dropshipAddress: CompleteAddress,
    options?: RequestOptions,
  ): ApiCall<void> {
    return replaceAddress(this.#context, orderReference, dropshipAddress, options);
  }

  /**
   * Returns the possible shipping levels of an order with their prices in EUR cents, the lowest level first (specification 4.7). The
   * service stores nothing. A combined order has no shipping options: the list is empty.
   *
   * @throws `PermissionDeniedError` with `store_not_writable_via_api`, `BadRequestError` with `invalid_address_denied_country`,
   * `ApiError` with `product_not_orderable`.
   * @example
   * const [cheapest] = await partner.orders.quote({ storeReference, shippingKind: "dropship",
   *   dropshipAddress: { countryCode: "NL" }, orderlines: [{ productReference, quantity: 2 }] });
   * console.log(cheapest?.level, cheapest?.price);
   */
  quote(quote: QuoteInput, options?: RequestOptions): ApiCall<readonly ShippingOption[]> {
    return this.#context.send(quoteOrder, { body: quote }, options);
  }

  /**
   * Looks up the reference of an order by your own identifier (specification 4.10).
   *
   * @throws `NotFoundError` if no order has this identifier.
   * @example
   * const orderReference = await partner.orders.lookup({ customIdentifier: "shop-1001" });
   */
  lookup(by: { readonly customIdentifier: string }, options?: RequestOptions): ApiCall<OrderReference> {
    return lookup(this.#context, by, options);
  }
}

/** The frames below this method in a stack are the caller's. */
const { ensureMany } = OrdersResource.prototype;
