import { describe, expect, it } from "vitest";
import { bodiesOf } from "./support/bodies.ts";
import { claimed, combined, createRender, placeOrder } from "./support/inputs.ts";
import { expectRefusal, type Service, startService } from "./support/service.ts";
import {
  exactly,
  expectShape,
  filled,
  flag,
  integer,
  list,
  type Matcher,
  nothing,
  nullOr,
  ref,
  text,
  timestamp,
  url,
} from "./support/shapes.ts";

/** What the specification promises of each resource, and nothing more, by hand. */
const named = (kind: string) => exactly({ reference: ref(kind), name: text });
const only = (kind: string) => exactly({ reference: ref(kind) });

const announced = { availableQuantity: nothing, layersModified: nothing, printModified: nothing };
const other = { availableQuantity: integer, layersModified: timestamp, printModified: timestamp };
/** 3.3: the print specifications of an announced product may be incomplete. */
const product: Matcher = (value, path) => {
  const isAnnounced = JSON.stringify(value).includes('"announced"');
  return exactly({
    reference: ref("Product"),
    name: text,
    status: text,
    legacyItemSKU: text,
    ...(isAnnounced ? announced : other),
  })(value, path);
};

const claimline = {
  productReference: ref("Product"),
  orderlineIndex: integer,
  quantity: integer,
  imageReference: ref("Image"),
  claimcategory: named("Claimcategory"),
  decision: nothing,
  evidenceUrls: list(url),
};

const modified = exactly({ modified: timestamp });

/** The rule, the path (a reference stands for its kind), and the body. */
const rows: readonly (readonly [rule: string, path: string, body: Matcher])[] = [
  ["4.2 GET /organization", "/organization", exactly({ organization: exactly({}) })],
  ["4.2 GET /accounts", "/accounts", exactly({ accounts: list(only("Account")) })],
  [
    "2.11 store",
    "/stores",
    exactly({ stores: list(exactly({ reference: ref("Store"), integration: text, legacyCode: text })) }),
  ],
  ["4.2 GET /brands", "/brands", exactly({ brands: list(only("Brand")) })],
  ["2.6 list", "/products", exactly({ products: list(product), nextCursor: nothing })],
  ["4.3 GET /packagings", "/packagings", exactly({ packagings: list(only("Packaging")) })],
  ["4.3 GET /productgroups", "/productgroups", exactly({ productgroups: list(only("Productgroup")) })],
  [
    "2.10 item",
    "/items",
    exactly({
      items: list(
        exactly({
          reference: ref("Item"),
          sku: text,
          logicalQuantity: integer,
          physicalQuantity: integer,
          products: list(only("Product")),
        }),
      ),
      nextCursor: nothing,
    }),
  ],
  ["2.7 image", "/images", exactly({ images: list(only("Image")), nextCursor: nothing })],
  ["2.9 scene list", "/scenes", exactly({ scenes: list(named("Scene")) })],
  ["4.6 GET /perspectives", "/perspectives", exactly({ perspectives: list(only("Perspective")) })],
  [
    "2.9 rendertokens",
    "/rendertokens",
    exactly({ rendertokens: exactly({ used: integer, limit: integer, remaining: integer, resets: timestamp }) }),
  ],
  ["4.7 GET /orders", "/orders", exactly({ orders: list(only("Order")), nextCursor: nothing })],
  [
    "2.8 list",
    "/claims",
    exactly({
      claims: list(
        exactly({
          reference: ref("Claim"),
          orderReference: ref("Order"),
          status: text,
          claimcategories: list(named("Claimcategory")),
          created: timestamp,
          retracted: nothing,
          decided: nothing,
        }),
      ),
      nextCursor: nothing,
    }),
  ],
  [
    "2.8 category",
    "/claimcategories",
    exactly({
      claimcategories: list(exactly({ reference: ref("Claimcategory"), name: text, evidenceRequired: flag })),
    }),
  ],
  [
    "2.6 detail",
    "/products/Product",
    exactly({
      product: exactly({
        reference: ref("Product"),
        name: text,
        status: text,
        legacyItemSKU: text,
        ...other,
        layers: modified,
        print: modified,
        weightGrams: integer,
        media: list(exactly({})),
      }),
    }),
  ],
  ["4.4 GET /addresses/{addressReference}", "/addresses/Address", exactly({ address: only("Address") })],
  [
    "2.9 scene",
    "/scenes/Scene",
    exactly({
      scene: exactly({
        reference: ref("Scene"),
        name: text,
        description: text,
        private: flag,
        allowsProductPerspectives: flag,
        compatibleProductgroups: list(only("Productgroup")),
        perspectives: list(only("Perspective")),
      }),
    }),
  ],
  [
    "2.9 perspective",
    "/perspectives/Perspective",
    exactly({
      perspective: exactly({
        reference: ref("Perspective"),
        name: text,
        output: exactly({ widthPx: integer, heightPx: integer, format: text }),
        scenes: list(only("Scene")),
        products: nothing,
      }),
    }),
  ],
  [
    "2.9 composition",
    "/compositions/Composition",
    exactly({ composition: exactly({ reference: ref("Composition"), tokenCost: integer }) }),
  ],
  [
    "2.9 render",
    "/renders/Render",
    exactly({
      render: exactly({
        reference: ref("Render"),
        compositionReference: ref("Composition"),
        imageReference: ref("Image"),
        status: text,
        thumbhash: text,
        media: exactly({ mimeType: text, extension: text, size: integer }),
        thumbnail: exactly({ mimeType: text, extension: text, size: integer }),
        created: timestamp,
        completed: timestamp,
      }),
    }),
  ],
  [
    "4.7 GET /orders/{orderReference}",
    "/orders/Order",
    exactly({
      order: exactly({
        reference: ref("Order"),
        status: exactly({}),
        orderlines: list((value, path) => {
          const printed = JSON.stringify(value).includes("imageReference");
          return exactly({
            index: integer,
            quantity: integer,
            canceledQuantity: integer,
            shippedQuantity: integer,
            annotations: list(exactly({ key: text, value: text })),
            productReference: ref("Product"),
            legacySku: text,
            ...(printed ? { imageReference: ref("Image") } : {}),
          })(value, path);
        }),
        onHold: nothing,
        dropshipAddressReference: ref("Address"),
        legacyOrderCode: text,
      }),
    }),
  ],
  [
    "4.8 GET /shipments/{shipmentReference}",
    "/shipments/Shipment",
    exactly({
      shipment: exactly({
        reference: ref("Shipment"),
        orders: list(only("Order")),
        carrier: filled,
        trackingNumber: filled,
        trackingUrl: url,
      }),
    }),
  ],
  [
    "4.9 GET /claims/{claimReference}",
    "/claims/Claim",
    exactly({
      claim: exactly({
        reference: ref("Claim"),
        orderReference: ref("Order"),
        status: text,
        comment: nullOr(text),
        createdBy: text,
        created: timestamp,
        retracted: nothing,
        decision: nothing,
        shipmentReference: ref("Shipment"),
        evidenceUrls: list(url),
        claimlines: list(exactly(claimline)),
      }),
    }),
  ],
];

const kindOf = (path: string): string => path.replace(/_[0-9a-z]{26}/, "");

async function minimal(): Promise<Service> {
  return startService({ shapes: "minimal", pageSize: 1000 });
}

describe("with only what the specification promises", () => {
  it.each(rows)("%s: %s has no other field", async (_rule, path, body) => {
    await using service = await minimal();
    const bodies = new Map((await bodiesOf(service)).map(([of, given]) => [kindOf(of), given]));
    expect([...bodies.keys()].sort()).toEqual(rows.map(([, of]) => of).sort());
    expectShape(bodies.get(path), body);
  });

  it("4.1 POST /auth/validate: `message` is promised", async () => {
    await using service = await minimal();
    expectShape((await service.post("/auth/validate")).body, exactly({ message: text }));
  });

  it("3.3 announced: the record of an announced product lacks what may be incomplete", async () => {
    await using service = await minimal();
    const { body } = await service.get(`/products/${service.demo.products.slimCaseFold}`);
    const known = { reference: ref("Product"), name: text, status: text, legacyItemSKU: text };
    expectShape(body, exactly({ product: exactly({ ...known, weightGrams: nothing, media: list(exactly({})) }) }));
  });

  it("2.9 thumbhash: a render that is not completed has no files", async () => {
    await using service = await minimal();
    const render = await createRender(service);
    const { body } = await service.get(`/renders/${render}`);
    const known = { reference: ref("Render"), compositionReference: ref("Composition"), imageReference: ref("Image") };
    expectShape(body, exactly({ render: exactly({ ...known, status: text, created: timestamp }) }));
  });

  it("2.8 decision, 2.8 claimline decision: a decided claim has its decisions, without the comments that nobody wrote", async () => {
    await using service = await minimal();
    const { claim } = await claimed(service);
    service.emulator.reviewClaim(claim, { decision: "refund" });
    const { decision, claimlines } = (await service.get(`/claims/${claim}`)).body.claim;
    expectShape(decision, exactly({ decided: timestamp, refundShippingCosts: flag, comment: nothing }));
    const quantities = { replacementQuantity: integer, refundQuantity: integer, rejectionQuantity: integer };
    expectShape(claimlines[0].decision, exactly({ ...quantities, comment: nothing }));
  });

  it("1 combined: the level of a combined shipment is not shown, so it has no tracking", async () => {
    await using service = await minimal();
    const order = await placeOrder(service, combined);
    const { body } = await service.get(`/shipments/${service.emulator.ship(order)}`);
    expectShape(body, exactly({ shipment: exactly({ reference: ref("Shipment"), orders: list(only("Order")) }) }));
    expect((await service.get(`/orders/${order}`)).body.order).not.toHaveProperty("dropshipAddressReference");
  });

  it("7 rule 1: a 4xx has its error object", async () => {
    await using service = await minimal();
    expectRefusal(await service.get("/orders/Order_x"), 400);
    expectRefusal(await service.get("/nowhere"), 404);
    expectRefusal(await service.send("GET", "/orders", { key: null }), 401);
  });
});
