import * as z from "zod/mini";
import { ConfigurationError } from "../errors/validation.ts";
import type { OrderReference } from "../references/references.ts";
import type { Order } from "../resources/orders/orders.schema.ts";
import { check, type UnknownKey } from "../schemas/check.ts";
import { count, filledText } from "../schemas/shape.ts";
import { clock, functionOf, isFunction } from "../schemas/type-guards.ts";
import { type PartnerClock, reliable, systemClock } from "../util/clock.ts";
import { propertyOf } from "../util/foreign.ts";
import type { OrderFollower } from "./follower.ts";
import { type CallbackEnvironment, environment } from "./parameters.ts";

/** The part of a `PodPartner` that the receiver uses. */
export interface OrderReader {
  readonly orders: {
    get(
      orderReference: OrderReference,
      options: { readonly priority: "high"; readonly deadline: number; readonly signal: AbortSignal },
    ): PromiseLike<Order>;
  };
}

/**
 * An order that the service reported as updated, fetched after the callback arrived.
 *
 * `order` and `orderReference` come from the service and are certain. So is `storeCode`, which `order.legacyOrderCode` contains. The
 * other fields come from the query of the callback, which is not signed: without a `token`, anybody can choose them. If the fetched
 * order has a field of the same name, its value is used.
 */
export interface OrderUpdated {
  /** The order as it is now. */
  readonly order: Order;
  readonly orderReference: OrderReference;
  /** Your own identifier of the order; undefined if it has none. */
  readonly customIdentifier: string | undefined;
  /** The code of the store. */
  readonly storeCode: string;
  /** The code of the integrator; undefined if the order did not come through one. */
  readonly viaStoreCode: string | undefined;
  /** With the option `environment`, always that value. */
  readonly environment: CallbackEnvironment;
  /** Aborts at the `timeout`, with a `DeadlineError`. A client that disconnects does not abort it. */
  readonly signal: AbortSignal;
}

/** A callback whose order was not handled. */
export interface OrderUpdatedFailure {
  readonly orderReference: OrderReference;
  /** What the handler threw, or why the order was not read. */
  readonly error: unknown;
  /** 503: the service repeats the callback. 204: the order does not exist, and the callback was acknowledged. */
  readonly status: 204 | 503;
}

/** What every receiver can be told. */
interface ReceiverOptions {
  /**
   * The value of the parameter `token` in the callback URL of the dashboard. Callbacks with another value are refused, and cost nothing.
   * Default: none is needed, and anybody can cause a limited number of requests to the service.
   */
  readonly token?: string | undefined;
  /** The environment of the client. Callbacks of the other one are refused. Default: both are accepted. */
  readonly environment?: CallbackEnvironment | undefined;
  /** How many orders are fetched and handled at a time. Default 4. */
  readonly concurrency?: number | undefined;
  /**
   * Milliseconds to fetch and handle an order. Then `signal` aborts and the service receives a 503. A callback that waits for its turn
   * longer than this receives a 503, too. Default 10 000.
   */
  readonly timeout?: number | undefined;
  /** Receives each callback whose order was not handled. Default: `console.error`. */
  readonly onError?: ((failure: OrderUpdatedFailure) => void) | undefined;
  /** The source of time. Default: the system clock. */
  readonly clock?: PartnerClock | undefined;
}

/** The options of a receiver that hands over each updated order. */
export interface OrderUpdatedReceiverOptions extends ReceiverOptions {
  /** The client that fetches the orders. */
  readonly partner: OrderReader;
  /**
   * Handles an updated order. The service receives a 204 when the returned promise resolves, and a 503 when it rejects. The same news
   * may come again, also after a 204: make it idempotent. Two calls for one order never overlap, except after a `timeout`.
   */
  readonly onOrderUpdated: (update: OrderUpdated) => unknown;
}

/** The options of a receiver that feeds a follower, which reads the order and hands over what is new. */
export interface FollowerReceiverOptions extends ReceiverOptions {
  /** The result of `createOrderFollower`. A callback costs the one request that the follower makes. */
  readonly follower: Pick<OrderFollower, "update">;
}

/** The options, complete and checked. */
export type ReceiverSettings = (
  | Pick<OrderUpdatedReceiverOptions, "partner" | "onOrderUpdated">
  | Pick<FollowerReceiverOptions, "follower">
) & {
  readonly token: string | undefined;
  readonly environment: CallbackEnvironment | undefined;
  readonly concurrency: number;
  readonly timeout: number;
  readonly onError: (failure: OrderUpdatedFailure) => void;
  readonly clock: PartnerClock;
};

const toConsole = ({ orderReference, status, error }: OrderUpdatedFailure): void =>
  console.error(`pod-partner: the order-updated callback of ${orderReference} received a ${status}:`, error);

const aFunction = <T>() => z.custom<T>(isFunction, { error: "expected a function" });

const common = () => ({
  token: z.optional(filledText()),
  environment: z.optional(environment()),
  concurrency: z._default(count(1), 4),
  timeout: z._default(z.number().check(z.positive()), 10_000),
  onError: z._default(aFunction<ReceiverSettings["onError"]>(), () => toConsole),
  clock: z._default(clock(), systemClock),
});

const withHandler = () =>
  z.strictObject({
    partner: z.custom<OrderReader>((value) => isFunction(functionOf(functionOf(value, "orders"), "get")), {
      error: "expected a client, the result of `new PodPartner()`",
    }),
    onOrderUpdated: aFunction<OrderUpdatedReceiverOptions["onOrderUpdated"]>(),
    ...common(),
  });

const either = "expected either `follower`, or `partner` and `onOrderUpdated`";
const absent = () => z.optional(z.undefined({ error: either }));

const withFollower = () =>
  z.strictObject({
    follower: z.custom<FollowerReceiverOptions["follower"]>((value) => isFunction(functionOf(value, "update")), {
      error: "expected a follower, the result of `createOrderFollower`",
    }),
    partner: absent(),
    onOrderUpdated: absent(),
    ...common(),
  });

const unknownOption: UnknownKey = {
  message: "is an unknown option",
  aliases: new Map([
    ["client", "partner"],
    ["handler", "onOrderUpdated"],
    ["secret", "token"],
  ]),
};

/** Checks the options of the receiver and completes them. Throws `ConfigurationError` with all faults. */
export function resolveReceiverOptions(given: OrderUpdatedReceiverOptions | FollowerReceiverOptions): ReceiverSettings {
  const schema = propertyOf(given, "follower") === undefined ? withHandler : withFollower;
  const checked = check(schema, given, [], unknownOption);
  if (!checked.ok) throw new ConfigurationError({ issues: checked.issues }, "receiver");
  const settings = checked.value as ReceiverSettings;
  return { ...settings, clock: reliable(settings.clock) };
}
