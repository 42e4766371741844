import { ulid } from "ulid";
import type { Issue } from "../../errors/validation.ts";
import type { Call } from "../../http/call.ts";
import { type Delivery, type Send, strictly } from "../../http/core.ts";
import { type ManyOptions, many } from "../../http/many.ts";
import { optionFaults } from "../../http/option-faults.ts";
import type { Delivered } from "../../http/recovery.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import { paginate } from "../../pagination/paginate.ts";
import type { ListOptions, Paginator } from "../../pagination/paginator.ts";
import type { OrderReference } from "../../references/references.ts";
import type { AddressInput } from "../../schemas/address.ts";
import type { Assumptions } from "../../schemas/assumptions.ts";
import { apart } from "../../util/apart.ts";
import type { Clock } from "../../util/clock.ts";
import type { Outcome } from "../../util/concurrently.ts";
import { Turns } from "../../util/turns.ts";
import { identityOf } from "./order-identifier.ts";
import type { CreatedOrder, OrderInput, QuoteInput, ShippingOption } from "./order-input.schema.ts";
import { orderRecovery } from "./order-recovery.ts";
import {
  cancelOrder,
  createOrder,
  getOrder,
  listOrders,
  lookupOrderBy,
  quoteOrder,
  replaceDropshipAddress,
} from "./orders.endpoints.ts";
import type { Cancellation, Order, OrderSummary } from "./orders.schema.ts";
import { RecentOrders } from "./recent-orders.ts";

/** What placing an order gives. */
export interface PlacedOrder {
  /** What every other call about this order takes: keep it. */
  readonly reference: OrderReference;
  /** Yours, or the ULID that was made for it. */
  readonly customIdentifier: string;
  /** Whether it was found by a look-up instead of an answer to its creation. */
  readonly recovered: boolean;
}

/** An order with your own identifier, by which it can be found again after a restart. */
export type IdentifiedOrderInput = OrderInput & { readonly customIdentifier: string };

/** Options of {@link OrdersResource.ensure}. */
export interface EnsureOptions extends RequestOptions {
  /**
   * Milliseconds for which to look for the order before it is placed. Default 0: one look-up.
   *
   * Give it for an order that another process may have sent a moment ago, such as a worker that was killed: the service may still be
   * working on that request, and one look-up cannot tell. The time that the service may take is enough: `assumptions.processingTime`,
   * 30 000 by default.
   */
  readonly lookFor?: number | undefined;
}

/** How an order is placed. */
interface Placing {
  /** Whether the same call can be made again without harm. */
  readonly repeatable: boolean;
  readonly deliver: (delivery: Delivery<CreatedOrder>) => Promise<Delivered<CreatedOrder>>;
}

/** Options for many orders. */
export interface CreateManyOptions extends ManyOptions, EnsureOptions {
  /** Orders under way at a time. Default 8. */
  readonly concurrency?: number | undefined;
}

/** Orders and quotes (specification 2.4, 4.7). */
export class OrdersResource {
  readonly #send: Send;
  readonly #turns = new Turns();
  readonly #recent: RecentOrders;
  readonly #lookupEndpoint: ReturnType<typeof lookupOrderBy>;
  readonly #identifierParameter: string;

  /** @internal */
  constructor(send: Send, assumptions: Assumptions, clock: Clock) {
    this.#send = send;
    this.#recent = new RecentOrders(clock);
    this.#lookupEndpoint = lookupOrderBy(assumptions);
    this.#identifierParameter = assumptions.customIdentifierParameter;
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
  create(order: OrderInput, options?: RequestOptions): Call<PlacedOrder> {
    const { customIdentifier = ulid(), faults } = identityOf(order, options);
    return this.#place({ ...order, customIdentifier }, faults, options, {
      repeatable: false,
      deliver: (delivery) => delivery.run(),
    });
  }

  /**
   * Makes sure that an order with this `customIdentifier` exists: looks it up first and places it only when it is not there.
   * Safe to run again, after a restart too.
   *
   * @throws the same as {@link OrdersResource.create}; `RequestValidationError` without a `customIdentifier`, too.
   * @example
   * const { reference, recovered } = await partner.orders.ensure({ ...order, customIdentifier: "shop-1001" });
   * if (recovered) console.log(`${reference} was there already`);
   */
  ensure(order: IdentifiedOrderInput, options: EnsureOptions = {}): Call<PlacedOrder> {
    const [{ lookFor }, rest] = apart(options, "lookFor");
    const { customIdentifier = order?.customIdentifier, faults } = identityOf(order, rest);
    const missing = customIdentifier === undefined ? [missingIdentifier] : [];
    const wrong = optionFaults({ lookFor }, "ensure");
    return this.#place({ ...order, customIdentifier }, [...faults, ...missing, ...wrong], rest, {
      repeatable: true,
      deliver: (delivery) => {
        const run = () => delivery.run(Math.max(lookFor ?? 0, this.#recent.doubt(customIdentifier)));
        // Two of the same at once, as when a webhook is delivered twice: the second finds what the first has made.
        return this.#turns.take(customIdentifier, run, (turn) => delivery.within(turn));
      },
    });
  }

  /**
   * Places any number of orders with {@link OrdersResource.ensure}, in bounded memory, and gives each outcome with its input as it
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
    options: CreateManyOptions = {},
  ): AsyncIterable<Outcome<Input, PlacedOrder>> {
    // One that is begun is finished, whoever leaves: a creation is never left half way.
    const work = (order: Input, each: RequestOptions) => this.ensure(order, each);
    return many(orders, options, { what: "orders", kind: "many", concurrency: 8, work });
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
  get(orderReference: OrderReference, options?: RequestOptions): Call<Order> {
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
  cancel(orderReference: OrderReference, lines: readonly Cancellation[], options?: RequestOptions): Call<void> {
    return this.#send(cancelOrder, { path: { orderReference }, body: lines }, options);
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
  ): Call<void> {
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
  quote(quote: QuoteInput, options?: RequestOptions): Call<readonly ShippingOption[]> {
    return this.#send(quoteOrder, { body: quote }, options);
  }

  /**
   * Finds an order by your own identifier (specification 4.10).
   *
   * @throws `NotFoundError` when no order has it.
   * @example
   * const orderReference = await partner.orders.lookup({ customIdentifier: "shop-1001" });
   */
  lookup(by: { readonly customIdentifier: string }, options?: RequestOptions): Call<OrderReference> {
    return this.#send(this.#lookupEndpoint, this.#by(by?.customIdentifier), options);
  }

  #place(
    order: IdentifiedOrderInput,
    faults: readonly Issue[],
    options: RequestOptions | undefined,
    { repeatable, deliver }: Placing,
  ): Call<PlacedOrder> {
    const { customIdentifier } = order;
    return this.#send(createOrder, { body: order, faults }, options, {
      strict: true,
      recovery: () => orderRecovery(this.#lookup, customIdentifier, this.#recent, repeatable),
      around: async (delivery) => {
        try {
          const delivered = await deliver(delivery);
          // What was told from memory is no news: it would never be forgotten.
          if (this.#recent.told(customIdentifier)?.data !== delivered.data)
            this.#recent.tell(customIdentifier, delivered);
          return delivered;
        } catch (error) {
          const until = delivery.doubtfulUntil();
          if (until !== undefined) this.#recent.suspect(customIdentifier, until);
          throw error;
        }
      },
      shape: ({ reference }, { recovered }) => ({ reference, customIdentifier, recovered }),
    });
  }

  /** Looks an order up for the SDK itself. */
  readonly #lookup = (customIdentifier: string, options: RequestOptions): Call<OrderReference> =>
    this.#send(this.#lookupEndpoint, this.#by(customIdentifier), options, strictly());

  #by(customIdentifier: string) {
    return { query: { [this.#identifierParameter]: customIdentifier } };
  }
}

const missingIdentifier: Issue = {
  path: ["order", "customIdentifier"],
  message: "is what `ensure` finds the order by: give your own, unique per order",
};
