import { address, evidenceOf, imageOf, itemClaim, placeOrder, renderInput, shipped } from "./inputs.ts";
import type { Service } from "./service.ts";

/** A valid request with a JSON body that has every field that part 4 shows. */
export interface JsonRequest {
  readonly method: "POST" | "PUT";
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Case {
  /** The endpoint, as in part 4. */
  readonly endpoint: string;
  readonly make: (service: Service) => Promise<JsonRequest>;
  /** The paths of the required fields. */
  readonly required: readonly string[];
}

const post = (path: string, body: Readonly<Record<string, unknown>>): JsonRequest => ({ method: "POST", path, body });

const order: Case = {
  endpoint: "POST /orders",
  make: async (service) => {
    const line = { productReference: service.demo.products.slimCase, imageReference: await imageOf(service) };
    const orderlines = [{ ...line, quantity: 1, annotations: [{ key: "row", value: "7" }] }];
    return post("/orders", {
      order: {
        storeReference: service.demo.stores.api,
        shippingKind: "dropship",
        customIdentifier: "shop-1",
        dropshipAddress: address,
        dropshipMinimalShippingLevel: "tracked",
        orderlines,
      },
    });
  },
  required: [
    "order",
    "order.storeReference",
    "order.shippingKind",
    "order.dropshipAddress",
    "order.orderlines",
    "order.orderlines.0.productReference",
    "order.orderlines.0.imageReference",
    "order.orderlines.0.quantity",
  ],
};

const quote: Case = {
  endpoint: "POST /quote",
  make: async ({ demo }) =>
    post("/quote", {
      quote: {
        storeReference: demo.stores.api,
        shippingKind: "dropship",
        dropshipAddress: address,
        dropshipMinimalShippingLevel: "basic",
        orderlines: [{ productReference: demo.products.slimCase, quantity: 1 }],
      },
    }),
  required: [
    "quote",
    "quote.storeReference",
    "quote.shippingKind",
    "quote.dropshipAddress",
    "quote.orderlines",
    "quote.orderlines.0.productReference",
    "quote.orderlines.0.quantity",
  ],
};

/** Every endpoint with a JSON body. */
export const jsonCases: readonly Case[] = [
  {
    endpoint: "POST /renders",
    make: async (service) => post("/renders", await renderInput(service)),
    required: ["render", "render.compositionReference", "render.imageReference"],
  },
  order,
  {
    endpoint: "POST /orders/{orderReference}/cancel",
    make: async (service) => {
      const orderlines = [{ index: 1, canceledQuantity: 1 }];
      return post(`/orders/${await placeOrder(service)}/cancel`, { orderlines });
    },
    required: ["orderlines", "orderlines.0.index", "orderlines.0.canceledQuantity"],
  },
  {
    endpoint: "PUT /orders/{orderReference}/dropship-address",
    make: async (service) => {
      const path = `/orders/${await placeOrder(service)}/dropship-address`;
      return { method: "PUT", path, body: { dropshipAddress: address } };
    },
    required: ["dropshipAddress"],
  },
  quote,
  {
    endpoint: "POST /claim-package-missing",
    make: async (service) => {
      const { shipment } = await shipped(service);
      service.clock.advance(30 * 86_400_000);
      const evidenceReferences = [await evidenceOf(service)];
      return post("/claim-package-missing", { claim: { shipmentReference: shipment, evidenceReferences } });
    },
    required: ["claim", "claim.shipmentReference"],
  },
  {
    endpoint: "POST /claim-item-issues",
    make: async (service) => {
      const parcel = await shipped(service);
      const { claim } = itemClaim(service, parcel, { evidenceReferences: [await evidenceOf(service)] });
      return post("/claim-item-issues", { claim: { ...claim, comment: "Upside down" } });
    },
    required: [
      "claim",
      "claim.shipmentReference",
      "claim.orderReference",
      "claim.claimlines",
      "claim.claimlines.0.orderlineIndex",
      "claim.claimlines.0.quantity",
      "claim.claimlines.0.claimcategoryReference",
    ],
  },
];
