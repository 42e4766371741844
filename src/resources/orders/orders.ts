import { ulid } from "ulid";
import { RequestValidationError } from "../../errors/validation.ts";
import type { Call } from "../../http/call.ts";
import type { Send } from "../../http/core.ts";
import { assertBody, nameOf } from "../../http/encode.ts";
import { assertConcurrency } from "../../http/option-faults.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import { type Timing, together } from "../../http/together.ts";
import { type ListOptions, Paginator } from "../../pagination/paginator.ts";
import type { OrderReference } from "../../references/references.ts";
import type { AddressInput } from "../../schemas/address.ts";
import { concurrently, type Outcome } from "../../util/concurrently.ts";
import { Turns } from "../../util/turns.ts";
import type { OrderInput, QuoteInput, ShippingOption } from "./order-input.schema.ts";
import { findOrder, orderRecovery } from "./order-recovery.ts";
import {
  type Assumptions,
  cancelOrder,
  createOrder,
  getOrder,
  listOrders,
  lookupOrderBy,
  quoteOrder,
  replaceDropshipAddress,
} from "./orders.endpoints.ts";
import type { Cancellation, Order, OrderSummary } from "./orders.schema.ts";

/** What placing an order gives. */
export interface PlacedOrder {
  readonly reference: OrderReference;
  /** Yours, or the ULID that was made for it. */
  readonly customIdentifier: string;
  /** Whether it was found by a look-up instead of an answer to its creation. */
  readonly recovered: boolean;
}

/** An order with your own identifier, by which it can be found again after a restart. */
export type IdentifiedOrderInput = OrderInput & { readonly customIdentifier: string };

/** Options for many orders. */
export interface CreateManyOptions extends RequestOptions {
  /** Orders under way at a time. Default 8. */
  readonly concurrency?: number | undefined;
}

/** Orders and quotes (specification 2.4, 4.7). */
export class Orders {
  readonly #send: Send;
  readonly #turns = new Turns();

  readonly #lookupEndpoint: ReturnType<typeof lookupOrderBy>;
  readonly #identifierParameter: string;

  readonly #timing: Timing;

  /** @internal */
  constructor(send: Send, assumptions: Assumptions, timing: Timing) {
    this.#send = send;
    this.#timing = timing;
    this.#lookupEndpoint = lookupOrderBy(assumptions);
    this.#identifierParameter = assumptions.customIdentifierParameter;
  }

  /**
   * Places an order, never twice: an answer that is lost is looked up by the `customIdentifier` before anything is sent again.
   *
   * Across a restart of your process use {@link Orders.ensure} with an identifier of your own.
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
  create(order: OrderInput, options?: RequestOptions): Call<PlacedOrder> {
    const given = identifierOf(order, options);
    const customIdentifier = given === undefined ? ulid() : given;
    return this.#send(createOrder, { body: { ...order, customIdentifier } }, options, {
      recovery: () => orderRecovery(this.#lookup, customIdentifier),
      shape: ({ reference }, recovered) => ({ reference, customIdentifier, recovered }),
    });
  }

  /**
   * Makes sure that an order with this `customIdentifier` exists: looks it up first and places it only when it is not there.
   * Safe to run again, after a restart too.
   *
   * @throws the same as {@link Orders.create}.
   */
  async ensure(order: IdentifiedOrderInput, options?: RequestOptions): Promise<PlacedOrder> {
    assertBody(createOrder, order);
    const customIdentifier = identifierOf(order, options);
    if (customIdentifier === undefined) throw missingIdentifier();
    return together(this.#timing, nameOf(createOrder), options ?? {}, (call) => {
      const lookThenPlace = async (): Promise<PlacedOrder> => {
        // What is added to the order is not for the look-up.
        const { body, query, ...rest } = call.options();
        const found = await findOrder(this.#lookup, customIdentifier, rest);
        if (found !== undefined) return { reference: found.data, customIdentifier, recovered: true };
        return this.create(order, call.options());
      };
      // Two of the same at once, as when a webhook is delivered twice: the second finds what the first has made.
      return this.#turns.take(customIdentifier, lookThenPlace, call.wait);
    });
  }

  /**
   * Places any number of orders with {@link Orders.ensure}, in bounded memory, and gives each outcome with its input as it
   * comes. One failure does not stop the others, and running it again places nothing twice.
   *
   * When `orders` itself throws, or the signal aborts, no more of them are read: the outcomes of those under way come first,
   * then the iteration throws the reason.
   *
   * @example
   * for await (const outcome of partner.orders.createMany(orders)) {
   *   if (outcome.ok) save(outcome.input.customIdentifier, outcome.value.reference);
   *   else report(outcome.input.customIdentifier, outcome.error);
   * }
   */
  createMany<Input extends IdentifiedOrderInput>(
    orders: Iterable<Input> | AsyncIterable<Input>,
    { concurrency = 8, ...options }: CreateManyOptions = {},
  ): AsyncIterable<Outcome<Input, PlacedOrder>> {
    assertConcurrency(concurrency);
    const place = (order: Input) => this.ensure(order, { ...options, priority: options.priority ?? "low" });
    return concurrently(orders, concurrency, place, options.signal);
  }

  /** Iterates all orders, the newest first. */
  list(options?: ListOptions): Paginator<OrderSummary> {
    return new Paginator("GET /orders", (cursor, page) => this.#send(listOrders, { query: { cursor } }, page), options);
  }

  /** Reads one order. */
  get(orderReference: OrderReference, options?: RequestOptions): Call<Order> {
    return this.#send(getOrder, { path: { orderReference } }, options);
  }

  /**
   * Cancels quantities of orderlines, all of them or none. A `canceledQuantity` is the absolute total for its line, so that
   * the same call can be made again.
   *
   * @throws `ConflictError` with `already_in_production`, `canceled_quantity_exceeds_shippable` or
   * `canceled_quantity_below_current`.
   */
  cancel(orderReference: OrderReference, lines: readonly Cancellation[], options?: RequestOptions): Call<void> {
    return this.#send(cancelOrder, { path: { orderReference }, body: lines }, options);
  }

  /**
   * Replaces the destination of an open dropship order entirely. The order gets a new `dropshipAddressReference`; a shipment
   * that exists keeps its address.
   *
   * @throws `ConflictError` with `order_completed`, `order_not_dropship` or `replacement_address_locked`.
   */
  replaceDropshipAddress(
    orderReference: OrderReference,
    dropshipAddress: AddressInput,
    options?: RequestOptions,
  ): Call<void> {
    return this.#send(replaceDropshipAddress, { path: { orderReference }, body: dropshipAddress }, options);
  }

  /** Tells the ways to ship an order and their prices in EUR cents, the lowest possible level first. Nothing is stored. */
  quote(quote: QuoteInput, options?: RequestOptions): Call<readonly ShippingOption[]> {
    return this.#send(quoteOrder, { body: quote }, options);
  }

  /**
   * Finds an order by your own identifier.
   *
   * @throws `NotFoundError` when no order has it.
   */
  lookup(by: { readonly customIdentifier: string }, options?: RequestOptions): Call<OrderReference> {
    return this.#lookup(by?.customIdentifier, options);
  }

  readonly #lookup = (customIdentifier: string, options?: RequestOptions): Call<OrderReference> => {
    return this.#send(this.#lookupEndpoint, { query: { [this.#identifierParameter]: customIdentifier } }, options);
  };
}

/** The identifier that goes over the wire: the option `body` has the last word there. Null is not "none": it is a fault. */
function identifierOf(order: OrderInput, { body }: RequestOptions = {}): string | undefined {
  const extra: unknown = body?.order;
  const replaced: unknown =
    typeof extra === "object" && extra !== null ? Reflect.get(extra, "customIdentifier") : undefined;
  return typeof replaced === "string" ? replaced : order?.customIdentifier;
}

const missingIdentifier = () =>
  new RequestValidationError({
    endpoint: nameOf(createOrder),
    issues: [
      {
        path: ["order", "customIdentifier"],
        message: "is what `ensure` finds the order by: give your own, unique per order",
      },
    ],
  });
