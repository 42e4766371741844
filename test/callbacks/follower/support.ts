import { memoryStorage, NotFoundError, type Order, type OrderReference } from "pod-partner";
import { createOrderFollower, type OrderFollowerOptions } from "pod-partner/callbacks";
import { createManualClock, type ManualClock } from "pod-partner/testing";
import type { FollowedOrderReader, FollowerReadOptions } from "../../../src/callbacks/options.ts";
import type { OrderChange } from "../../../src/callbacks/order-state.ts";
import type { KeyValueStorage } from "../../../src/storage/contract.ts";
import { ref } from "../../support/references.ts";
import { useInstantDigest } from "./instant-digest.ts";

export const first = ref("Order", "1");
export const second = ref("Order", "2");

/** An order with two lines of three units, as the service returns it (specification 2.4, 2.5). */
export function newOrder(reference: OrderReference): Order {
  const line = (index: number) => ({
    index,
    productReference: ref("Product", String(index)),
    imageReference: ref("Image", String(index)),
    quantity: 3,
    canceledQuantity: 0,
    shippedQuantity: 0,
    annotations: [{ key: "sku", value: `shop-${index}` }],
    legacySku: null,
  });
  return {
    reference,
    status: { code: "accepted" },
    orderlines: [line(1), line(2)],
    onHold: null,
    dropshipAddressReference: ref("Address", "1"),
    legacyOrderCode: "shop-7-42",
  };
}

/** The order with other totals: `[shipped, canceled]` of each line. */
export const withTotals = (
  order: Order,
  ...totals: readonly (readonly [shipped: number, canceled?: number])[]
): Order => ({
  ...order,
  orderlines: order.orderlines.map((line, at) => {
    const [shippedQuantity = line.shippedQuantity, canceledQuantity = line.canceledQuantity] = totals[at] ?? [];
    return { ...line, shippedQuantity, canceledQuantity };
  }),
});

/** The error of the service for an order that does not exist (specification 7). */
export const notFound = (code: string | undefined = "not_found") =>
  new NotFoundError({
    response: { status: 404, headers: {}, body: "" } as never,
    code,
    message: "no such order",
    endpoint: "GET /orders/{orderReference}",
  });

export interface ReadCall extends FollowerReadOptions {
  readonly reference: OrderReference;
}

/** A service with orders that a test changes, and the reads that it received. */
function createService(clock: ManualClock) {
  const orders = new Map<OrderReference, Order>([
    [first, newOrder(first)],
    [second, newOrder(second)],
  ]);
  const reads: ReadCall[] = [];
  const service = {
    orders,
    reads,
    /** Runs before each response is made. It may wait, throw, or return another response. */
    onRead: async (_: ReadCall): Promise<Order | undefined> => undefined,
    /** The header `Date` of a response; null for none. */
    date: (): string | null => new Date(clock.now()).toUTCString(),
    change: (reference: OrderReference, change: (order: Order) => Order) => {
      const order = orders.get(reference);
      if (order !== undefined) orders.set(reference, change(order));
    },
    ship: (reference: OrderReference, ...totals: readonly (readonly [number, number?])[]) =>
      service.change(reference, (order) => withTotals(order, ...totals)),
    hold: (reference: OrderReference, reason: string | null) =>
      service.change(reference, (order) => ({ ...order, onHold: reason === null ? null : { reason } })),
  };
  const respond = async (reference: OrderReference, options: FollowerReadOptions) => {
    const call = { reference, ...options };
    reads.push(call);
    const other = await service.onRead(call);
    const data = other ?? orders.get(reference);
    if (data === undefined) throw notFound();
    const date = service.date();
    return { data, response: { headers: new Headers(date === null ? {} : { date }) } };
  };
  const client: FollowedOrderReader = {
    orders: { get: (reference, options) => ({ withResponse: () => respond(reference, options) }) },
    "~scopeOf": async () => "scope",
  };
  return Object.assign(service, { client });
}

/** What a handler received, in short. */
export interface Handed {
  readonly reference: OrderReference;
  readonly changes: readonly OrderChange[];
  readonly shipped: readonly number[];
  readonly held: boolean;
}

/** A service, a storage, and followers that record what they hand over. */
export function createWorld() {
  useInstantDigest();
  const clock = createManualClock();
  const service = createService(clock);
  const storage: KeyValueStorage = memoryStorage({ clock });
  const handed: Handed[] = [];
  const gone: OrderReference[] = [];
  const follower = (options: Partial<OrderFollowerOptions> = {}) =>
    createOrderFollower({
      partner: service.client,
      storage,
      clock,
      onGone: ({ orderReference }) => gone.push(orderReference),
      ...options,
      onChange: async (change) => {
        await options.onChange?.(change);
        const { order, changes } = change;
        handed.push({
          reference: order.reference,
          changes,
          shipped: order.orderlines.map(({ shippedQuantity }) => shippedQuantity),
          held: order.onHold !== null,
        });
      },
    });
  /** The kinds of change of each hand-over. */
  const kinds = () => handed.map(({ changes }) => changes.map(({ kind }) => kind));
  /** The keys of the storage, without the prefix of the organization. */
  const keys = async () => {
    const found: string[] = [];
    for await (const key of storage.keys("")) found.push(key.replace(/^.*?follower:/, ""));
    return found.sort();
  };
  return { clock, service, storage, handed, gone, follower, kinds, keys };
}

/** Advances a clock in small steps until a promise settles, and returns its result. */
export async function settle<Result>(clock: ManualClock, work: Promise<Result>, most = 600): Promise<Result> {
  let settled = false;
  const done = () => {
    settled = true;
  };
  work.then(done, done);
  for (let step = 0; step < most && !settled; step += 1) {
    await clock.advance(step === 0 ? 0 : 100);
    await new Promise(setImmediate);
  }
  if (!settled) throw new Error(`not settled after ${most} steps`);
  return work;
}
