import type { ApiCall } from "../../http/call/call.ts";
import type { Send } from "../../http/call/core.ts";
import {
  type ExactRow,
  type ManyOptions,
  type ManyRows,
  many,
  type RowMapping,
  type Rows,
} from "../../http/call/many.ts";
import { noOptions, type RequestOptions } from "../../http/endpoint/request-options.ts";
import { paginate } from "../../pagination/paginate.ts";
import type { ListOptions, Paginator } from "../../pagination/paginator.ts";
import type { OrderReference } from "../../references/references.ts";
import type { AddressInput } from "../../schemas/address.ts";
import type { Assumptions } from "../../schemas/assumptions.ts";
import type { Outcome } from "../../util/concurrently.ts";
import type { CallContext } from "../../waiting/call-context.ts";
import { type CanceledRemainder, cancelRemaining } from "./cancel-remaining.ts";
import type { OrderInput, QuoteInput, ShippingOption } from "./order-input.schema.ts";
import { type EnsureOptions, type IdentifiedOrderInput, OrderPlacement, type PlacedOrder } from "./order-placement.ts";
import { cancelOrder, getOrder, listOrders, quoteOrder, replaceDropshipAddress } from "./orders.endpoints.ts";
import type { Cancellation, Order, OrderSummary } from "./orders.schema.ts";

/** Options of {@link OrdersResource.ensureMany}. */
export interface EnsureManyOptions extends ManyOptions, EnsureOptions {
  /** Orders under way at a time. Default 8. */
  readonly concurrency?: number | undefined;
}

/** Orders and quotes (specification 2.4, 4.7). */
export class OrdersResource {
  readonly #send: Send;
  readonly #context: CallContext;
  readonly #placement: OrderPlacement;

  /** @internal */
  constructor(send: Send, assumptions: Assumptions, context: CallContext) {
    this.#send = send;
    this.#context = context;
    this.#placement = new OrderPlacement(send, assumptions, context.clock);
  }

  /**
   * Places an order, never twice (specification 4.7): an answer that is lost is looked up by the `customIdentifier` before
   * anything is sent again.
   *
   * Across a restart of your process use {@link OrdersResource.ensure} with an identifier of your own.
   *
   * @throws `RequestValidationError` before sending, with the path of each fault.
   * @throws `OutcomeUnknownError` when the answer was lost and looking it up could not decide.
   * @example
   * const { reference } = await partner.orders.create({
   *   storeReference,
   *   shippingKind: "dropship",
   *   customIdentifier: "shop-1001",
   *   dropshipAddress: { firstname: "Ada", lastname: "Jansen", streetname: "Dam", housenumber: "1", zipcode: "1012JS",
   *     city: "Amsterdam", countryCode: "NL", email: "ada@example.com" },
   *   orderlines: [{ productReference, imageReference, quantity: 1 }],
   * });
   */
  create(order: OrderInput, options?: RequestOptions): ApiCall<PlacedOrder> {
    return this.#placement.create(order, options);
  }

  /**
   * Makes sure that an order with this `customIdentifier` exists: looks it up first and places it only when it is not there.
   * Safe to run again. After a restart give `lookFor`: another process may have sent the order a moment ago.
   *
   * One more request compares the lines of an order that was found (product, image, quantity); `compare: false` skips it.
   *
   * @throws `OrderMismatchError` when the order that exists has other lines.
   * @throws the same as {@link OrdersResource.create}; `RequestValidationError` without a `customIdentifier`, too.
   * @example
   * const { reference, recovered } = await partner.orders.ensure({ ...order, customIdentifier: "shop-1001" });
   * if (recovered) console.log(`${reference} was there already`);
   */
  ensure(order: IdentifiedOrderInput, options?: EnsureOptions): ApiCall<PlacedOrder> {
    return this.#placement.ensure(order, options);
  }

  /**
   * Places any number of orders with {@link OrdersResource.ensure}, in bounded memory, and gives each outcome with its row as it
   * comes. One failure does not stop the others, and running it again places nothing twice.
   *
   * `map` makes the order of a row of your own. When `rows` itself throws, or the signal aborts, no more rows are read: the
   * outcomes of those under way come first, then the iteration throws the reason.
   *
   * @throws `RequestValidationError` when an option or the rows are invalid.
   * @example
   * const map = ({ id, quantity }: (typeof rows)[number]) => ({
   *   storeReference, shippingKind: "dropship" as const, customIdentifier: `shop-${id}`, dropshipAddress: address,
   *   orderlines: [{ productReference, imageReference, quantity }],
   * });
   * for await (const outcome of partner.orders.ensureMany(rows, { map })) {
   *   if (outcome.ok) save(outcome.input.id, outcome.value.reference);
   *   else report(outcome.input.id, outcome.error);
   * }
   */
  ensureMany<Row>(
    rows: Rows<Row>,
    options: EnsureManyOptions & RowMapping<Row, IdentifiedOrderInput>,
  ): AsyncIterable<Outcome<Row, PlacedOrder>>;
  /**
   * Places any number of orders, where each row is an order and has no other fields: in the way of the form with `map`.
   *
   * @throws the same as the form with `map`.
   * @example
   * for await (const outcome of partner.orders.ensureMany(orders)) {
   *   if (outcome.ok) save(outcome.input.customIdentifier, outcome.value.reference);
   *   else report(outcome.input.customIdentifier, outcome.error);
   * }
   */
  ensureMany<Row extends IdentifiedOrderInput>(
    rows: Rows<ExactRow<Row, IdentifiedOrderInput>>,
    options?: EnsureManyOptions & { readonly map?: undefined },
  ): AsyncIterable<Outcome<Row, PlacedOrder>>;
  ensureMany(
    rows: Rows<unknown>,
    options: ManyRows<IdentifiedOrderInput, EnsureManyOptions> = {},
  ): AsyncIterable<Outcome<unknown, PlacedOrder>> {
    // One that is begun is finished, whoever leaves: a creation is never left half way.
    const work = (order: IdentifiedOrderInput, each: EnsureOptions) => this.ensure(order, each);
    return many(rows, options, { kind: "ensureMany", concurrency: 8, work });
  }

  /**
   * Iterates all orders, typically the newest first (specification 4.7, 4.11).
   *
   * @example
   * for await (const { reference } of partner.orders.list()) console.log(reference);
   */
  list(options?: ListOptions): Paginator<OrderSummary> {
    return paginate(this.#send, listOrders, {}, options);
  }

  /**
   * Reads one order: its lines, how far each is, and whether production is on hold (specification 2.4).
   *
   * @throws `NotFoundError` when there is none of this reference; test and production have references of their own.
   */
  get(orderReference: OrderReference, options?: RequestOptions): ApiCall<Order> {
    return this.#send(getOrder, { path: { orderReference } }, options);
  }

  /**
   * Cancels quantities of orderlines, all of them or none (specification 4.7). A `canceledQuantity` is the absolute total for its
   * line, so that the same call can be made again.
   *
   * @throws `ConflictError` with `already_in_production`, `canceled_quantity_exceeds_shippable` or
   * `canceled_quantity_below_current`; `PermissionDeniedError` with `store_not_writable_via_api`.
   * @example
   * await partner.orders.cancel(orderReference, [{ index: 1, canceledQuantity: 2 }]);
   */
  cancel(orderReference: OrderReference, lines: readonly Cancellation[], options?: RequestOptions): ApiCall<void> {
    return this.#send(cancelOrder, { path: { orderReference }, body: lines }, options);
  }

  /**
   * Cancels all of an order that is neither shipped nor canceled: reads the order, then cancels the rest of each line, all lines or
   * none. Safe to call again.
   *
   * When a line is shipped in between (`canceled_quantity_exceeds_shippable`), it reads the order again and tries once more; a second
   * conflict is thrown. `deadline` bounds both requests together; `query` and `body` are added to the cancellation.
   *
   * @throws `ConflictError` with `already_in_production` when the order is in production: nothing is canceled then.
   * @throws `PermissionDeniedError` with `store_not_writable_via_api`; `NotFoundError` when there is no such order.
   * @example
   * const { canceled } = await partner.orders.cancelRemaining(orderReference);
   * for (const { index, canceledQuantity } of canceled) console.log(`line ${index}: ${canceledQuantity} canceled in all`);
   */
  cancelRemaining(orderReference: OrderReference, options: RequestOptions = noOptions): ApiCall<CanceledRemainder> {
    return cancelRemaining(this.#send, this.#context, orderReference, options);
  }

  /**
   * Replaces the destination of an open dropship order entirely (specification 4.7). The order gets a new
   * `dropshipAddressReference`; a shipment that exists keeps its address.
   *
   * @throws `ConflictError` with `order_completed`, `order_not_dropship` or `replacement_address_locked`.
   * @throws `RequestValidationError` before sending, when the address breaks a rule of specification 2.3.
   * @example
   * await partner.orders.replaceDropshipAddress(orderReference, { ...address, housenumber: "2" });
   */
  replaceDropshipAddress(
    orderReference: OrderReference,
    dropshipAddress: AddressInput,
    options?: RequestOptions,
  ): ApiCall<void> {
    return this.#send(replaceDropshipAddress, { path: { orderReference }, body: dropshipAddress }, options);
  }

  /**
   * Tells the ways to ship an order and their prices in EUR cents, the lowest possible level first (specification 4.7). Nothing is
   * stored. A combined order has none.
   *
   * @throws `PermissionDeniedError` with `store_not_writable_via_api`, `BadRequestError` with `invalid_address_denied_country`,
   * `ApiError` with `product_not_orderable`.
   * @example
   * const [cheapest] = await partner.orders.quote({
   *   storeReference,
   *   shippingKind: "dropship",
   *   dropshipAddress: { countryCode: "NL" },
   *   orderlines: [{ productReference, quantity: 2 }],
   * });
   * console.log(cheapest?.level, cheapest?.price);
   */
  quote(quote: QuoteInput, options?: RequestOptions): ApiCall<readonly ShippingOption[]> {
    return this.#send(quoteOrder, { body: quote }, options);
  }

  /**
   * Finds an order by your own identifier (specification 4.10).
   *
   * @throws `NotFoundError` when no order has it.
   * @example
   * const orderReference = await partner.orders.lookup({ customIdentifier: "shop-1001" });
   */
  lookup(by: { readonly customIdentifier: string }, options?: RequestOptions): ApiCall<OrderReference> {
    return this.#placement.lookup(by?.customIdentifier, options);
  }
}
