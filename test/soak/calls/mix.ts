import type { PodPartner, RequestOptions } from "../../../src/index.ts";
import { combinedOrder } from "../../support/orders.ts";
import { png } from "../../support/pictures.ts";
import { ref } from "../../support/references.ts";

/** Makes a call. No other call has the same number. */
type Make = (partner: PodPartner, options: RequestOptions, number: number) => Promise<unknown>;

const order = (number: number) => ({ ...combinedOrder, customIdentifier: `soak-${number}` });
const claim = (number: number) => ({
  shipmentReference: ref("Shipment", "1"),
  orderReference: ref("Order", String(number)),
  claimlines: [{ orderlineIndex: 1, quantity: 1, claimcategoryReference: ref("Claimcategory", "1") }],
});
const quote = {
  storeReference: combinedOrder.storeReference,
  shippingKind: "combined" as const,
  orderlines: [{ productReference: ref("Product", "1"), quantity: 1 }],
};

async function leaveEarly(partner: PodPartner, options: RequestOptions): Promise<void> {
  for await (const _ of partner.orders.list(options)) return;
}

const media = (partner: PodPartner, options: RequestOptions) => partner.renders.media(ref("Render", "1"), options);

async function readFirstChunk(partner: PodPartner, options: RequestOptions): Promise<void> {
  for await (const _ of (await media(partner, options)).stream()) return;
}

/** The calls of a busy integration, and how often each occurs in 100 calls. */
const parts: readonly (readonly [share: number, make: Make])[] = [
  [32, (partner, options) => partner.orders.get(ref("Order", "1"), options)],
  [8, (partner, options) => partner.orders.list(options).toArray()],
  [6, leaveEarly],
  [12, (partner, options, number) => partner.orders.create(order(number), options)],
  [8, (partner, options, number) => partner.orders.ensure(order(number), options)],
  [1, (partner, options, number) => partner.claims.createItemIssues(claim(number), options)],
  [8, (partner, options) => partner.orders.cancel(ref("Order", "1"), [{ index: 1, canceledQuantity: 1 }], options)],
  [6, (partner, options) => partner.orders.quote(quote, options)],
  [4, (partner, options) => partner.images.upload(png, options)],
  [6, async (partner, options) => (await media(partner, options)).bytes()],
  [3, async (partner, options) => (await media(partner, options)).cancel()],
  [2, readFirstChunk],
  // This download stays unread until its timeout.
  [1, media],
  [3, (partner, options) => partner.request("GET", "/stores", options).withResponse()],
];

const mix: readonly Make[] = parts.flatMap(([share, make]) => Array.from({ length: share }, () => make));

/** The call for a random number from 0 to 1. */
export const callFor = (roll: number): Make => mix[Math.floor(roll * mix.length)] ?? media;
