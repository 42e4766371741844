import * as z from "zod/mini";
import type { OrderReference } from "../references/references.ts";
import type { Order } from "../resources/orders/orders.endpoints.ts";
import { checkedConfiguration, unknownOption } from "../schemas/check.ts";
import { count } from "../schemas/shape.ts";
import { type KeyValueStorage, reliableClock } from "../storage/contract.ts";
import type { PartnerClock } from "../util/clock.ts";
import { isFunction, propertyOf } from "../util/foreign.ts";
import type { Reconciled } from "./errors.ts";
import type { LookResult, OrderChanged, OrderGone } from "./order-state.ts";
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
  /**
   * 503: the service repeats the callback. 204: the order does not exist, and the callback was acknowledged: at once with `token: false`
   * and for an order that is gone, otherwise after the service did not show it for an hour.
   */
  readonly status: 204 | 503;
}

/** Options shared by all receivers. */
interface ReceiverOptions {
  /**
   * The value of the parameter `token` in the callback URL of the dashboard, at least 16 characters. Callbacks with another value are
   * refused, and cost nothing. With `false` none is needed: anybody can cause a limited number of requests to the service.
   */
  readonly token: string | false;
  /** The environment of the client. Callbacks of the other one are refused. Default: both are accepted. */
  readonly environment?: CallbackEnvironment | undefined;
  /** How many orders are fetched and handled at a time. Default 4. */
  readonly concurrency?: number | undefined;
  /**
   * Milliseconds to fetch and handle an order. After that, `signal` aborts and the service receives a 503. A callback that waits longer than
   * this for its turn also receives a 503. Default 10 000.
   */
  readonly timeout?: number | undefined;
  /**
   * Receives each callback whose order was not handled. It does not receive those that were refused at once: with a 4xx, or with a 503
   * because too many callbacks are waiting or the receiver is closed. Default: `console.error`.
   */
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
   * may come again, even after a 204, so make it idempotent. Two calls for one order overlap only after a `timeout`.
   */
  readonly onOrderUpdated: (update: OrderUpdated) => unknown;
}

/** The options of a receiver with a follower, which reads the orders and hands over what is new. */
export interface FollowerReceiverOptions extends ReceiverOptions {
  /** The result of `createOrderFollower`. A callback costs the one request that the follower makes. */
  readonly follower: {
    readonly update: (orderReference: OrderReference) => Promise<LookResult>;
    /** Follows an order that the service does not show yet. */
    readonly follow?: ((orderReference: OrderReference) => Promise<void>) | undefined;
  };
}

/** How an order is read. */
export interface FollowerReadOptions {
  readonly priority: "high" | "low";
  readonly deadline?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The part of a `PodPartner` that the follower uses. */
export interface FollowedOrderReader {
  readonly orders: {
    get(
      orderReference: OrderReference,
      options: FollowerReadOptions,
    ): { withResponse(): PromiseLike<{ readonly data: Order; readonly response: { readonly headers: Headers } }> };
  };
  /** Names the organization's part of the storage. Every `PodPartner` has it. */
  readonly "~scopeOf": (storage: KeyValueStorage) => Promise<string>;
}

/** The options of {@link createOrderFollower}. */
export interface OrderFollowerOptions {
  /** The client that reads the orders: a `PodPartner`. */
  readonly partner: FollowedOrderReader;
  /**
   * Where the follower remembers what it has handed over: `sqliteStorage`, `postgresStorage`, `redisStorage`, or `memoryStorage` for a test. All processes that
   * follow the same orders need the same storage.
   */
  readonly storage: KeyValueStorage;
  /**
   * Handles what is new about an order. The change counts as handed over when the returned promise resolves; if it rejects, the same
   * change comes again. A change can also come again after a crash: make the function idempotent, by the order and the totals. In a
   * process, two calls for one order overlap only after a `timeout`.
   */
  readonly onChange: (change: OrderChanged) => unknown;
  /** Handles an order that the service no longer has: 404 or 410 with a code. Called once for each order. Default: nothing. */
  readonly onGone?: ((gone: OrderGone) => unknown) | undefined;
  /**
   * Milliseconds between two sweeps of the follower's own timer, at least 1 000. The first begins at once. An order that any process has read in the
   * last half of this time is skipped. Default: no timer; call `reconcile` yourself.
   */
  readonly interval?: number | undefined;
  /** Receives what a sweep of the timer rejects with, such as a `ReconcileError`. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Milliseconds for each step of a change: waiting for another call, reading the order, handling it. Default 10 000. */
  readonly timeout?: number | undefined;
  /**
   * Milliseconds for which a completed order stays in the storage. News that comes later is handed over as if the order were new. Default
   * 90 days.
   */
  readonly keepFor?: number | undefined;
  /** The source of time. Default: the system clock. */
  readonly clock?: PartnerClock | undefined;
}

/** Options of {@link OrderFollower.reconcile}. */
export interface ReconcileOptions {
  /** Stops the sweep. Running handlers finish. */
  readonly signal?: AbortSignal | undefined;
  /** How many orders are read at a time. Default 8. */
  readonly concurrency?: number | undefined;
  /** Skips orders that a process has read in the last `unreadFor` milliseconds. Default 0: only those read since the sweep began. */
  readonly unreadFor?: number | undefined;
  /** Is called after each order. An error that it throws is ignored. */
  readonly onProgress?: ((progress: ReconcileProgress) => void) | undefined;
}

/** The progress of a sweep. */
export interface ReconcileProgress extends Reconciled {
  /** Orders that failed. */
  readonly failed: number;
  /** Orders that are still to be checked. */
  readonly remaining: number;
}

const days = 86_400_000;

const reportCallback = ({ orderReference, status, error }: OrderUpdatedFailure): void =>
  console.error(`pod-partner: the receiver responded with ${status} to a callback of ${orderReference}:`, error);
const reportSweep = (error: unknown): void =>
  console.error("pod-partner: a sweep of the followed orders failed:", error);

const aFunction = <T>() => z.custom<T>(isFunction, { error: "expected a function" });
const duration = () => z.number().check(z.positive());

const readsOrders = (value: unknown): boolean => isFunction(propertyOf(propertyOf(value, "orders"), "get"));
const isClient = (value: unknown): boolean => readsOrders(value) && isFunction(Reflect.get(Object(value), "~scopeOf"));
const isStorage = (value: unknown): boolean =>
  typeof propertyOf(value, "kind") === "string" &&
  ["get", "set", "delete", "keys"].every((name) => isFunction(propertyOf(value, name)));

const notAClient = { error: "expected a client, the result of `new PodPartner()`" };

const isToken = (value: unknown): boolean => value === false || (typeof value === "string" && value.length >= 16);

const ofEachReceiver = () => ({
  token: z.custom<string | false>(isToken, {
    error:
      "expected at least 16 characters, the `token` of the callback URL, or false: then anybody can call the receiver",
  }),
  environment: z.optional(environment()),
  concurrency: z._default(count(1), 4),
  timeout: z._default(duration(), 10_000),
  onError: z._default(aFunction<(failure: OrderUpdatedFailure) => void>(), () => reportCallback),
  clock: reliableClock(),
});

const receiverWithHandler = () =>
  z.strictObject({
    partner: z.custom<OrderReader>(readsOrders, notAClient),
    onOrderUpdated: aFunction<OrderUpdatedReceiverOptions["onOrderUpdated"]>(),
    ...ofEachReceiver(),
  });

const absent = () =>
  z.optional(z.undefined({ error: "expected either `follower`, or `partner` and `onOrderUpdated`" }));

const receiverWithFollower = () =>
  z.strictObject({
    follower: z.custom<FollowerReceiverOptions["follower"]>((value) => isFunction(propertyOf(value, "update")), {
      error: "expected a follower, the result of `createOrderFollower`",
    }),
    partner: absent(),
    onOrderUpdated: absent(),
    ...ofEachReceiver(),
  });

const followerSettings = () =>
  z.strictObject({
    partner: z.custom<FollowedOrderReader>(isClient, notAClient),
    storage: z.custom<KeyValueStorage>(isStorage, { error: "expected a storage, such as `sqliteStorage(path)`" }),
    onChange: aFunction<OrderFollowerOptions["onChange"]>(),
    onGone: z._default(aFunction<(gone: OrderGone) => unknown>(), () => () => undefined),
    interval: z.optional(z.number().check(z.gte(1_000))),
    onError: z._default(aFunction<(error: unknown) => void>(), () => reportSweep),
    timeout: z._default(duration(), 10_000),
    keepFor: z._default(duration(), 90 * days),
    clock: reliableClock(),
  });

const sweepSettings = () =>
  z.strictObject({
    signal: z.optional(
      z.custom<AbortSignal>((value) => isFunction(propertyOf(value, "addEventListener")), {
        error: "expected an AbortSignal",
      }),
    ),
    concurrency: z._default(count(1), 8),
    unreadFor: z._default(z.number().check(z.gte(0)), 0),
    onProgress: z.optional(aFunction<(progress: ReconcileProgress) => void>()),
  });

/** The checked options of a receiver, a follower and a sweep, with defaults. */
export type ReceiverSettings =
  | z.infer<ReturnType<typeof receiverWithHandler>>
  | z.infer<ReturnType<typeof receiverWithFollower>>;
export type FollowerSettings = z.infer<ReturnType<typeof followerSettings>>;
export type SweepSettings = z.infer<ReturnType<typeof sweepSettings>>;

const ofReceiver = unknownOption({ client: "partner", handler: "onOrderUpdated", secret: "token" });
const ofFollower = unknownOption({
  client: "partner",
  handler: "onChange",
  onOrderUpdated: "onChange",
  every: "interval",
  forgetAfter: "keepFor",
  ttl: "keepFor",
});

/** Checks the options of a receiver and completes them. Throws `ConfigurationError` with all faults. */
export const resolveReceiverOptions = (
  given: OrderUpdatedReceiverOptions | FollowerReceiverOptions,
): ReceiverSettings =>
  propertyOf(given, "follower") === undefined
    ? checkedConfiguration(receiverWithHandler, given, "receiver", ofReceiver)
    : checkedConfiguration(receiverWithFollower, given, "receiver", ofReceiver);

/** Checks the options of the follower and completes them. Throws `ConfigurationError` with all faults. */
export const resolveFollowerOptions = (given: OrderFollowerOptions): FollowerSettings =>
  checkedConfiguration(followerSettings, given, "follower", ofFollower);

/** Checks the options of a sweep and completes them. Throws `ConfigurationError` with all faults. */
export const resolveReconcileOptions = (given: ReconcileOptions): SweepSettings =>
  checkedConfiguration(sweepSettings, given, "follower", ofFollower);
