import { ulid } from "ulid";
import { OrderMismatchError } from "../../errors/order-mismatch.ts";
import type { Issue } from "../../errors/validation.ts";
import type { ApiCall } from "../../http/call/call.ts";
import { type Delivery, type Plan, type Send, strictly } from "../../http/call/core.ts";
import { optionFaults } from "../../http/endpoint/check-options.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import type { Delivered } from "../../http/retry/recovery.ts";
import type { OrderReference } from "../../references/references.ts";
import type { Assumptions } from "../../schemas/assumptions.ts";
import type { PartnerClock } from "../../util/clock.ts";
import { KeyedMutex } from "../../util/keyed-mutex.ts";
import { splitFields } from "../../util/split-fields.ts";
import { identityOf } from "./order-identifier.ts";
import type { CreatedOrder, OrderInput } from "./order-input.schema.ts";
import { orderRecovery } from "./order-recovery.ts";
import { createOrder, getOrder, lookupOrderBy } from "./orders.endpoints.ts";
import { RecentOrders } from "./recent-orders.ts";
import { haveSameLines } from "./same-lines.ts";

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
  /**
   * Whether to compare the lines of an order that exists with the requested ones, by one more request. Default true: other content is
   * an `OrderMismatchError`.
   */
  readonly compare?: boolean | undefined;
}

/** What is sent of an order, as far as it is looked at again. */
type SentOrder = Pick<IdentifiedOrderInput, "orderlines">;

/** How an order is placed. */
interface Placing {
  /** Whether the same call can be made again without harm. */
  readonly repeatable: boolean;
  readonly deliver: (delivery: Delivery<CreatedOrder>, sent: SentOrder) => Promise<Delivered<CreatedOrder>>;
}

/** Places orders, each once: `orders.create` and `orders.ensure`. */
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
    const { lookFor = 0, compare = true } = own;
    const { customIdentifier = order?.customIdentifier, faults } = identityOf(order, rest);
    const missing = customIdentifier === undefined ? [missingIdentifier] : [];
    const all = [...faults, ...missing, ...optionFaults(own, "ensure")];
    return this.#place({ ...order, customIdentifier }, all, rest, {
      repeatable: true,
      deliver: async (delivery, sent) => {
        const delivered = await delivery.run(Math.max(lookFor, this.#recent.doubt(customIdentifier)));
        if (compare && delivered.recovered) await this.#compare(delivery, delivered.data, customIdentifier, sent);
        return delivered;
      },
    });
  }

  /** Finds an order by its custom identifier. */
  lookup(
    customIdentifier: string,
    options?: RequestOptions,
    plan?: Plan<OrderReference, OrderReference>,
  ): ApiCall<OrderReference> {
    const input = { query: { [this.#identifierParameter]: customIdentifier } };
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
    const lookup = (each: RequestOptions) => this.lookup(customIdentifier, each, strictly());
    let sent: SentOrder = { orderlines: [] };
    return this.#send(createOrder, { body: order, faults }, options, {
      strict: true,
      recovery: (content) => {
        // It has passed the check of the request.
        sent = content as SentOrder;
        return orderRecovery(lookup, customIdentifier, this.#recent, repeatable);
      },
      around: (delivery) => {
        const run = () => this.#remember(customIdentifier, delivery, () => deliver(delivery, sent));
        // Calls with the same identifier run one after the other, also `ensure` while a `create` is under way: the second finds the
        // order that the first has made.
        return this.#mutex.take(customIdentifier, run, (turn) => delivery.within(turn));
      },
      shape: ({ reference }, { recovered }) => ({ reference, customIdentifier, recovered }),
    });
  }

  /** Remembers what came of an order, or until when it may still come into being. */
  async #remember(
    customIdentifier: string,
    delivery: Delivery<CreatedOrder>,
    deliver: () => Promise<Delivered<CreatedOrder>>,
  ): Promise<Delivered<CreatedOrder>> {
    try {
      const delivered = await deliver();
      // What was told from memory is no news: it would never be forgotten.
      if (this.#recent.told(customIdentifier)?.data !== delivered.data) this.#recent.tell(customIdentifier, delivered);
      return delivered;
    } catch (error) {
      const until = delivery.doubtfulUntil();
      if (until !== undefined) this.#recent.suspect(customIdentifier, until);
      throw error;
    }
  }

  /** Throws when the order that exists is another one. */
  async #compare(
    delivery: Delivery<CreatedOrder>,
    { reference: orderReference }: CreatedOrder,
    customIdentifier: string,
    { orderlines }: SentOrder,
  ): Promise<void> {
    const existing = await delivery.ask((options) =>
      this.#send(getOrder, { path: { orderReference } }, options, strictly()),
    );
    if (haveSameLines(existing.orderlines, orderlines)) return;
    throw new OrderMismatchError({ customIdentifier, existing, requested: orderlines });
  }
}

const missingIdentifier: Issue = {
  path: ["order", "customIdentifier"],
  message: "is required: `ensure` uses it to find the order. Give your own, unique per order",
};
