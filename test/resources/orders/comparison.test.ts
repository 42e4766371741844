import { describe, expect, it } from "vitest";
import { rejection } from "../../support/exchange.ts";
import { dropshipOrder, sentAddress } from "../../support/orders.ts";
import { useService } from "../../support/partner.ts";
import { ref } from "../../support/references.ts";
import type { StubResponse } from "../../support/stub-service.ts";

const order = { ...dropshipOrder, customIdentifier: "shop-1" };

/** The order as the service returns it. */
const existing = {
  reference: ref("Order"),
  status: {},
  orderlines: order.orderlines.map((line, position) => ({
    annotations: [],
    ...line,
    index: position + 1,
    canceledQuantity: 0,
    shippedQuantity: 0,
  })),
  onHold: null,
  dropshipAddressReference: ref("Address"),
  legacyOrderCode: "nl1-100001",
};

describe("orders.ensure compares an existing order", () => {
  const context = useService();

  /** Ensures an order that exists with these fields and this address. */
  function ensure(fields: object, address: StubResponse) {
    context.service.respond(
      { body: { orderReference: ref("Order") } },
      { body: { order: { ...existing, ...fields } } },
      address,
    );
    return context.partner.orders.ensure(order);
  }
  const at = (address: object): StubResponse => ({ body: { address } });

  it.each<[string, object, StubResponse]>([
    ["an equal address", {}, at(sentAddress)],
    ["an address without its empty fields", {}, at(dropshipOrder.dropshipAddress)],
    ["an address that shows only its country", {}, at({ countryCode: "NL" })],
    [
      "an address that the service writes differently",
      {},
      at({ ...sentAddress, firstname: "ADA", zipcode: "1011AB", city: " Amsterdam", email: "Ada@example.com" }),
    ],
    [
      "an address that stopped resolving",
      {},
      { status: 404, body: { code: "not_found", message: "It was replaced." } },
    ],
    ["an address that the key may not read", {}, { status: 403, body: { code: "forbidden", message: "no" } }],
    ["an address of another shape", {}, { body: { address: { lines: ["Kade 12"] } } }],
    ["equal fields that the specification does not show", { shippingKind: "dropship" }, at(sentAddress)],
    ["fields of other names", { shippingLevel: "express", brand: {} }, at(sentAddress)],
  ])("and accepts %s", async (_, fields, address) => {
    expect(await ensure(fields, address)).toMatchObject({ reference: ref("Order"), existed: true });
  });

  it.each<[string, object, object, readonly object[]]>([
    ["another house number", {}, { housenumber: "12a" }, [{ path: ["dropshipAddress", "housenumber"] }]],
    ["an e-mail address without its dot", {}, { email: "ada@examplecom" }, [{ path: ["dropshipAddress", "email"] }]],
    ["another country", {}, { countryCode: "DE" }, [{ path: ["dropshipAddress", "countryCode"] }]],
    ["a company that was added", {}, { company: "Shop" }, [{ path: ["dropshipAddress", "company"] }]],
    ["a phone number that was added", {}, { phonenumber: "+31 6 123" }, [{ path: ["dropshipAddress", "phonenumber"] }]],
    [
      "another shipping level, if the service returns it",
      { dropshipMinimalShippingLevel: "express" },
      {},
      [{ path: ["dropshipMinimalShippingLevel"], existing: "express", requested: "tracked" }],
    ],
    [
      "another store, if the service returns it",
      { storeReference: ref("Store", "9") },
      {},
      [{ path: ["storeReference"], existing: ref("Store", "9"), requested: ref("Store", "1") }],
    ],
    [
      "no address of an order that shall have one",
      { dropshipAddressReference: null },
      {},
      [{ path: ["shippingKind"], existing: "combined", requested: "dropship" }],
    ],
    [
      "another image",
      {
        orderlines: existing.orderlines.map((line) =>
          line.index === 1 ? { ...line, imageReference: ref("Image", "9") } : line,
        ),
      },
      {},
      [{ path: ["orderlines", 0, "imageReference"], existing: ref("Image", "9") }],
    ],
    [
      "a missing line",
      { orderlines: existing.orderlines.slice(0, 1) },
      {},
      [
        {
          path: ["orderlines", 1],
          existing: undefined,
          requested: { productReference: ref("Product", "2"), imageReference: null, quantity: 1, annotations: [] },
        },
      ],
    ],
  ])("and reports %s", async (_, fields, address, differences) => {
    const error = await rejection(ensure(fields, at({ ...sentAddress, ...address })));
    expect(error).toMatchObject({ name: "OrderMismatchError", differences });
  });

  it("and fails when the address cannot be read now, but later", async () => {
    const error = await rejection(ensure({}, { status: 503, body: { code: "down", message: "later" } }));
    expect(error).toMatchObject({
      name: "ServerError",
      isRetryable: true,
      endpoint: "GET /addresses/{addressReference}",
    });
  });

  it("and names its look-ups and comparisons in the timeline", async () => {
    context.service.respond(
      { body: { orderReference: ref("Order") } },
      { body: { order: existing } },
      { body: { address: sentAddress } },
    );
    const { timeline } = await context.partner.orders.ensure(order).withResponse();
    expect(timeline.map(({ step, outcome }) => `${step} ${outcome}`)).toEqual([
      "lookup found",
      "lookup compared",
      "lookup compared",
    ]);
  });
});
