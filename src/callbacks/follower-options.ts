import * as z from "zod/mini";
import { ConfigurationError } from "../errors/validation.ts";
import { check, type UnknownKey } from "../schemas/check.ts";
import { count } from "../schemas/shape.ts";
import { clock, functionOf, isFunction } from "../schemas/type-guards.ts";
import type { KeyValueStore } from "../storage/contract.ts";
import { scopeOf } from "../storage/scoped-storage.ts";
import { type PartnerClock, reliable, systemClock } from "../util/clock.ts";
import type { OrderChanged, OrderGone } from "./changes.ts";
import type { FollowedOrderReader } from "./reader.ts";

/** The options of {@link createOrderFollower}. */
export interface OrderFollowerOptions {
  /** The client that reads the orders: a `PodPartner`. */
  readonly partner: FollowedOrderReader;
  /**
   * Where the follower remembers what it has handed over: `sqliteStore`, `redisStore`, or `memoryStore` for a test. All processes that
   * follow the same orders need the same store.
   */
  readonly store: KeyValueStore;
  /**
   * Handles what is new about an order. The change counts as handed over when the returned promise resolves; if it rejects, the same
   * change comes again. A change can also come again after a crash: make the function idempotent, by the order and the totals. Two calls
   * for one order never overlap in a process, except after a `timeout`.
   */
  readonly onChange: (change: OrderChanged) => unknown;
  /** Handles an order that the service no longer has: 404 or 410 with a code. Called once for each order. Default: nothing. */
  readonly onGone?: ((gone: OrderGone) => unknown) | undefined;
  /**
   * Milliseconds between two sweeps of the follower's own timer. The first begins at once. An order that any process has read in the
   * last half of this time is skipped. Default: no timer; call `reconcile` yourself.
   */
  readonly every?: number | undefined;
  /** Receives what a sweep of the timer rejects with, such as a `ReconcileError`. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Milliseconds for each step of a change: to wait for another process, to read the order, to handle it. Default 10 000. */
  readonly timeout?: number | undefined;
  /**
   * Milliseconds for which a completed order stays in the store. News that comes later is handed over as if the order were new. Default
   * 90 days.
   */
  readonly forgetAfter?: number | undefined;
  /** The source of time. Default: the system clock. */
  readonly clock?: PartnerClock | undefined;
}

/** The options, complete and checked. */
export interface FollowerSettings {
  readonly partner: FollowedOrderReader;
  readonly store: KeyValueStore;
  readonly onChange: (change: OrderChanged) => unknown;
  readonly onGone: (gone: OrderGone) => unknown;
  readonly every: number | undefined;
  readonly onError: (error: unknown) => void;
  readonly timeout: number;
  readonly forgetAfter: number;
  readonly clock: PartnerClock;
}

const days = 86_400_000;
const nothing = (): void => undefined;
const toConsole = (error: unknown): void => console.error("pod-partner: a sweep of the followed orders failed:", error);

const aFunction = <T>() => z.custom<T>(isFunction, { error: "expected a function" });
const duration = () => z.number().check(z.positive());

const isClient = (value: unknown): boolean =>
  isFunction(functionOf(functionOf(value, "orders"), "get")) && isFunction(Reflect.get(Object(value), scopeOf));
const isStore = (value: unknown): boolean =>
  typeof functionOf(value, "kind") === "string" &&
  ["get", "set", "delete", "keys"].every((name) => isFunction(functionOf(value, name)));

const schema = () =>
  z.strictObject({
    partner: z.custom<FollowedOrderReader>(isClient, { error: "expected a client, the result of `new PodPartner()`" }),
    store: z.custom<KeyValueStore>(isStore, { error: "expected a store, such as `sqliteStore(path)`" }),
    onChange: aFunction<FollowerSettings["onChange"]>(),
    onGone: z._default(aFunction<FollowerSettings["onGone"]>(), () => nothing),
    every: z.optional(duration()),
    onError: z._default(aFunction<FollowerSettings["onError"]>(), () => toConsole),
    timeout: z._default(duration(), 10_000),
    forgetAfter: z._default(duration(), 90 * days),
    clock: z._default(clock(), systemClock),
  });

const sweepSchema = () =>
  z.strictObject({
    signal: z.optional(
      z.custom<AbortSignal>((value) => isFunction(functionOf(value, "addEventListener")), {
        error: "expected an AbortSignal",
      }),
    ),
    concurrency: z._default(count(1), 8),
    unreadFor: z._default(z.number().check(z.gte(0)), 0),
  });

const unknownOption: UnknownKey = {
  message: "is an unknown option",
  aliases: new Map([
    ["client", "partner"],
    ["handler", "onChange"],
    ["onOrderUpdated", "onChange"],
    ["interval", "every"],
    ["ttl", "forgetAfter"],
  ]),
};

/** Options of {@link OrderFollower.reconcile}. */
export interface ReconcileOptions {
  /** Stops the sweep. Changes that are being handled come to their end. */
  readonly signal?: AbortSignal | undefined;
  /** How many orders are read at a time. Default 8. */
  readonly concurrency?: number | undefined;
  /** Skips orders that a process has read in the last `unreadFor` milliseconds. Default 0: only those read since the sweep began. */
  readonly unreadFor?: number | undefined;
}

/** The options of a sweep, complete. */
export interface SweepSettings {
  readonly signal: AbortSignal | undefined;
  readonly concurrency: number;
  readonly unreadFor: number;
}

function resolve<Settings>(shape: Parameters<typeof check>[0], given: unknown): Settings {
  const checked = check(shape, given, [], unknownOption);
  if (!checked.ok) throw new ConfigurationError({ issues: checked.issues }, "follower");
  return checked.value as Settings;
}

/** Checks the options of the follower and completes them. Throws `ConfigurationError` with all faults. */
export function resolveFollowerOptions(given: OrderFollowerOptions): FollowerSettings {
  const settings = resolve<FollowerSettings>(schema, given);
  return { ...settings, clock: reliable(settings.clock) };
}

/** Checks the options of a sweep and completes them. Throws `ConfigurationError` with all faults. */
export const resolveReconcileOptions = (given: ReconcileOptions): SweepSettings =>
  resolve<SweepSettings>(sweepSchema, given);
