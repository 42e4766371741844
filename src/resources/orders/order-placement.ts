import { ulid } from "ulid";
import { ApiError } from "../../errors/api.ts";
import { type ComparedLine, OrderMismatchError } from "../../errors/order-mismatch.ts";
import { type Issue, ResponseValidationError } from "../../errors/validation.ts";
import type { ApiCall } from "../../http/call/call.ts";
import { type Delivery, type Plan, type Send, strictly } from "../../http/call/core.ts";
import { optionFaults } from "../../http/endpoint/check-options.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import type { Delivered } from "../../http/retry/recovery.ts";
import type { AddressReference, OrderReference } from "../../references/references.ts";
import type { Address } from "../../schemas/address.ts";
import type { Assumptions } from "../../schemas/assumptions.ts";
import type { PartnerClock } from "../../util/clock.ts";
import { propertyOf } from "../../util/foreign.ts";
import { KeyedMutex } from "../../util/keyed-mutex.ts";
import { splitFields } from "../../util/split-fields.ts";
import { getAddress } from "../addresses/addresses.endpoints.ts";
import { type Comparison, differencesOf } from "./order-differences.ts";
import { identityOf } from "./order-identifier.ts";
import type { CreatedOrder, OrderInput } from "./order-input.schema.ts";
import { orderRecovery } from "./order-recovery.ts";
import { createOrder, getOrder, lookupOrderBy } from "./orders.endpoints.ts";
import { RecentOrders } from "./recent-orders.ts";

/** A placed order. */
export interface PlacedOrder {
  /** The order's reference. Store it: all other calls about the order need it. */
  readonly reference: OrderReference;
  /** Your identifier, or the ULID that the SDK generated. */
  readonly customIdentifier: string;
  /** True if a look-up found the order; false if this call's response reported its creation. */
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

/** How `create` and `ensure` place an order. */
interface Placing {
  /** Whether repeating the call does no harm. */
  readonly repeatable: boolean;
  readonly deliver: (delivery: Delivery<CreatedOrder>) => Promise<Delivered<CreatedOrder>>;
}

/** Implements `orders.create` and `orders.ensure`: places each order at most once. */
export class OrderPlacement {
  readonly #send: Send;
  readonly #mutex = new KeyedMutex();
  readonly #recent: RecentOrders;
  readonly #lookupEndpoint: ReturnType<typeof lookupOrderBy>;
  readonly #identifierParameter: string;

  constructor(send: Send, assumptions: Assumptions, clock: PartnerClock) {
    this.#send = send;
    this.#recent = new RecentOrders(clock);
    this.#lookupEndpoint = lookupOrderBy(assumptions);
    this.#identifierParameter = assumptions.customIdentifierParameter;
  }

  create(order: OrderInput, options?: RequestOptions): ApiCall<PlacedOrder> {
    const { customIdentifier = ulid(), faults } = identityOf(order, options);
    const deliver = (delivery: Delivery<CreatedOrder>) => delivery.run();
    return this.#place({ ...order, customIdentifier }, faults, options, { repeatable: false, deliver });
  }

  ensure(order: IdentifiedOrderInput, options: EnsureOptions = {}): ApiCall<PlacedOrder> {
    const [own, rest] = splitFields(options, "lookFor", "compare");
    const { lookFor = 0, compare = "all" } = own;
    const { customIdentifier = order?.customIdentifier, faults } = identityOf(order, rest);
    const missing = customIdentifier === undefined ? [missingIdentifier] : [];
    const all = [...faults, ...missing, ...optionFaults(own, "ensure")];
    return this.#place({ ...order, customIdentifier }, all, rest, {
      repeatable: true,
      deliver: async (delivery) => {
        const delivered = await delivery.run(Math.max(lookFor, this.#recent.doubt(customIdentifier)));
        if (compare && delivered.recovered) await this.#compare(delivery, delivered.data, customIdentifier, compare);
        return delivered;
      },
    });
  }

  /** Looks up an order by its custom identifier. */
  lookup(
    by: { readonly customIdentifier: string },
    options?: RequestOptions,
    plan?: Plan<OrderReference, OrderReference>,
  ): ApiCall<OrderReference> {
    const { customIdentifier, ...unknown } = by ?? {};
    const input = { query: { [this.#identifierParameter]: customIdentifier, ...unknown } };
    return plan === undefined
      ? this.#send(this.#lookupEndpoint, input, options)
      : this.#send(this.#lookupEndpoint, input, options, plan);
  }

  #place(
    order: IdentifiedOrderInput,
    faults: readonly Issue[],
    options: RequestOptions | undefined,
    { repeatable, deliver }: Placing,
  ): ApiCall<PlacedOrder> {
    const { customIdentifier } = order;
    const lookup = (each: RequestOptions) => this.lookup({ customIdentifier }, each, strictly());
    return this.#send(createOrder, { body: order, faults }, options, {
      strict: true,
      recovery: () => orderRecovery(lookup, customIdentifier, this.#recent, repeatable),
      around: (delivery) => {
        const run = () => this.#remember(customIdentifier, delivery, () => deliver(delivery));
        // Calls with the same identifier run one after the other, also `create` and `ensure`: the second finds the order of the first.
        return this.#mutex.take(customIdentifier, run, (turn) => delivery.within(turn));
      },
      shape: ({ reference }, { recovered }) => ({ reference, customIdentifier, recovered }),
    });
  }

  /** Remembers the placed order, or, after a lost response, the time until which the service may still create it. */
  async #remember(
    customIdentifier: string,
    delivery: Delivery<CreatedOrder>,
    deliver: () => Promise<Delivered<CreatedOrder>>,
  ): Promise<Delivered<CreatedOrder>> {
    try {
      const delivered = await deliver();
      // A result from memory is not stored again. Otherwise the memory would never expire.
      if (this.#recent.known(customIdentifier)?.data !== delivered.data)
        this.#recent.record(customIdentifier, delivered);
      return delivered;
    } catch (error) {
      const until = delivery.doubtfulUntil();
      if (until !== undefined) this.#recent.suspect(customIdentifier, until);
      throw error;
    }
  }

  /** Throws if the existing order has another content. */
  async #compare(
    delivery: Delivery<CreatedOrder>,
    { reference: orderReference }: CreatedOrder,
    customIdentifier: string,
    comparison: Comparison,
  ): Promise<void> {
    const existing = await delivery.ask((options) =>
      this.#send(getOrder, { path: { orderReference } }, options, strictly()),
    );
    const { dropshipAddressReference } = existing;
    const address =
      comparison === "all" && dropshipAddressReference
        ? await this.#readAddress(delivery, dropshipAddressReference)
        : undefined;
    const sent = delivery.sent();
    const differences = differencesOf(existing, address, sent, comparison);
    if (differences.length === 0) return;
    const lines = propertyOf(sent, "orderlines");
    const requested = Array.isArray(lines) ? lines.filter(isComparedLine) : [];
    throw new OrderMismatchError({ customIdentifier, existing, requested, differences });
  }

  /** The address; undefined if the service does not show it, or shows it in a form that the SDK does not know. */
  async #readAddress(
    delivery: Delivery<CreatedOrder>,
    addressReference: AddressReference,
  ): Promise<Address | undefined> {
    try {
      return await delivery.ask((options) =>
        this.#send(getAddress, { path: { addressReference } }, options, strictly()),
      );
    } catch (error) {
      // A replaced address stops resolving (specification 4.4).
      if ((error instanceof ApiError && !error.isRetryable) || error instanceof ResponseValidationError)
        return undefined;
      throw error;
    }
  }
}

const isComparedLine = (line: unknown): line is ComparedLine =>
  typeof propertyOf(line, "productReference") === "string" && typeof propertyOf(line, "quantity") === "number";

const missingIdentifier: Issue = {
  path: ["order", "customIdentifier"],
  message: "is required: `ensure` uses it to find the order. Set your own identifier, unique per order",
};
