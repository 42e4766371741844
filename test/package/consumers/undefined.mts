import { type ImageReference, PodPartner, parseReference } from "pod-partner";
import { createOrderUpdatedReceiver } from "pod-partner/callbacks";

declare const text: string | undefined;
declare const count: number | undefined;
declare const imageReference: ImageReference | undefined;

const retry = { retries: count, baseDelay: count, maxDelay: count, maxRetryAfter: count };
const partner = new PodPartner({
  baseUrl: text,
  secretKey: text,
  timeout: count,
  retry,
  assumptions: { customIdentifierParameter: text },
  hooks: { onRetry: undefined },
});

const storeReference = parseReference("Store", "text");
const productReference = parseReference("Product", "text");
const parcel = { firstname: "Ada", lastname: "Jansen", streetname: "Dam", zipcode: "1012JS", city: "Amsterdam" };
const address = { ...parcel, countryCode: "NL", email: "ada@example.com", company: text, phonenumber: text };
const order = {
  storeReference,
  customIdentifier: text,
  shippingKind: "dropship",
  dropshipAddress: address,
  dropshipMinimalShippingLevel: undefined,
  orderlines: [{ productReference, imageReference, quantity: 1, annotations: undefined }],
} as const;

export const calls = [
  partner.orders.create(order, { retry, timeout: count, signal: undefined }),
  partner.orders.ensure({ ...order, customIdentifier: "shop-1" }, { compare: undefined, lookFor: count }),
  partner.orders.list({ prefetch: count }).toArray({ limit: count }),
  partner.claims.createItemIssues({
    shipmentReference: parseReference("Shipment", "text"),
    orderReference: parseReference("Order", "text"),
    comment: text,
    claimlines: [
      {
        orderlineIndex: 1,
        quantity: 1,
        claimcategoryReference: parseReference("Claimcategory", "text"),
        evidenceReferences: undefined,
      },
    ],
  }),
];
export const many = partner.orders.ensureMany([{ ...order, customIdentifier: "shop-1" }], { concurrency: count });
export const receiver = createOrderUpdatedReceiver({
  partner,
  onOrderUpdated: () => undefined,
  token: text ?? false,
  environment: undefined,
  concurrency: count,
  timeout: count,
  onError: undefined,
  clock: undefined,
});
