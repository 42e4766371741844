import type { Order, OrderReference } from "pod-partner";
import { createOrderUpdatedReceiver, type OrderUpdatedReceiverOptions } from "pod-partner/callbacks";
import type { OrderReader } from "../../src/callbacks/options.ts";
import { ref } from "../support/references.ts";

export const token = "0d5b3c9a7e1f4826";

/** The query of a callback as specification 6 writes it. A parameter that is undefined is absent. */
export function callbackQuery(changes: Readonly<Record<string, string | undefined>> = {}): string {
  const parameters = {
    token,
    environment: "test",
    order_reference: "shop-7-42",
    order_reference_v2: ref("Order", "1"),
    store_code: "shop-7",
    ...changes,
  };
  const present = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return String(new URLSearchParams(present));
}

export const callbackUrl = (changes?: Readonly<Record<string, string | undefined>>): string =>
  `https://shop.example/callbacks?${callbackQuery(changes)}`;

/** An order as the service returns it (specification 2.4, 2.5). */
export const orderFields = (reference: OrderReference, shippedQuantity = 1): Order => ({
  reference,
  status: { code: "shipped" },
  orderlines: [
    {
      index: 1,
      productReference: ref("Product", "1"),
      imageReference: ref("Image", "1"),
      quantity: 2,
      canceledQuantity: 0,
      shippedQuantity,
      annotations: [],
      legacySku: null,
    },
  ],
  onHold: null,
  dropshipAddressReference: ref("Address", "1"),
  legacyOrderCode: "shop-7-42",
});

type Read = OrderReader["orders"]["get"];

/** A client that records what the receiver reads. Without `read`, each order exists. */
export function createReader(read: Read = async (reference) => orderFields(reference)) {
  const reads: Parameters<Read>[] = [];
  const get: Read = (...given) => {
    reads.push(given);
    return read(...given);
  };
  return { reads, orders: { get } };
}

type Options = Partial<OrderUpdatedReceiverOptions>;

/** A receiver whose handler does nothing, and whose failures are recorded. */
export function createReceiver(options: Options = {}) {
  const failures: unknown[] = [];
  const reader = createReader();
  const receiver = createOrderUpdatedReceiver({
    partner: reader,
    onOrderUpdated: () => undefined,
    token,
    onError: (failure) => failures.push(failure),
    ...options,
  });
  const receive = (changes?: Parameters<typeof callbackUrl>[0], init?: RequestInit): Promise<Response> =>
    receiver.fetch(new Request(callbackUrl(changes), init));
  return { receiver, receive, failures, reads: reader.reads };
}

/** Waits until all promises that need no timer and no input have settled. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
