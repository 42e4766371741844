import fc from "fast-check";
import { type ControlError, createEmulator, startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import type { SeedOrder } from "../../../src/emulator/settings/seed.ts";
import { problem, referenceOf, setUp } from "../support.ts";

/** An emulator whose time is 2026-11-02T09:00:00Z, a Monday, with the orders of a seed. */
const seeded = (orders: readonly SeedOrder[]) => {
  const bench = setUp();
  return { ...bench, planted: bench.emulator.seed({ orders }) };
};

const literal = (text: string) => text.replace(/[[\]().]/g, "\\$&");

describe("an order of a seed", () => {
  it("is by default a dropship order of one printed slim case", async () => {
    const { get, planted, demo } = seeded([{}]);
    const { order } = (await get(`/orders/${planted.orders[0]?.reference}`)).body;
    expect(order).toMatchObject({
      reference: expect.stringMatching(referenceOf("Order")),
      orderlines: [{ index: 1, productReference: demo.products.slimCase, quantity: 1, shippedQuantity: 0 }],
      onHold: null,
      dropshipAddressReference: expect.stringMatching(referenceOf("Address")),
    });
    const { address } = (await get(`/addresses/${order.dropshipAddressReference}`)).body;
    // Its reference, and the 13 fields of specification 2.3.
    expect(Object.keys(address)).toHaveLength(14);
    const filled = ["firstname", "lastname", "streetname", "housenumber", "zipcode", "city"];
    for (const name of filled) expect(address[name]).toMatch(/./);
    expect([address.countryCode, address.email]).toEqual([
      expect.stringMatching(/^[A-Z]{2}$/),
      expect.stringMatching(/^[^@]+@[^@]+$/),
    ]);
  });

  it("has the store, lines, hold and production of its description", async () => {
    const { get, post, planted, demo } = seeded([
      {
        store: "WHOLE",
        customIdentifier: "shop-7",
        shippingKind: "combined",
        orderlines: [
          { product: "screenProtector", quantity: 4, canceledQuantity: 1 },
          { product: "slimCase13", image: "a" },
        ],
        onHold: "Waiting for stock",
      },
      { inProduction: true },
    ]);
    const path = "/utilities/lookup-order-reference-by-custom-identifier?customIdentifier=shop-7";
    const { orderReference } = (await get(path)).body;
    expect(orderReference).toBe(planted.orders[0]?.reference);
    const { order } = (await get(`/orders/${orderReference}`)).body;
    expect(order).toMatchObject({
      legacyOrderCode: expect.stringMatching(/^WHOLE-/),
      onHold: { reason: "Waiting for stock" },
      orderlines: [
        { productReference: demo.products.screenProtector, imageReference: null, quantity: 4, canceledQuantity: 1 },
        { productReference: demo.products.slimCase13, imageReference: expect.stringMatching(referenceOf("Image")) },
      ],
    });
    const cancellation = { orderlines: [{ index: 1, canceledQuantity: 1 }] };
    const refused = await post(`/orders/${planted.orders[1]?.reference}/cancel`, cancellation);
    expect(problem(refused)).toEqual({ status: 409, code: "already_in_production" });
  });

  it("has shipments and claims of earlier days", async () => {
    const { get, post, planted } = seeded([
      {
        daysAgo: 20,
        orderlines: [{ quantity: 3 }],
        shipments: [
          { daysAgo: 18, lines: [{ index: 1, quantity: 1 }] },
          { daysAgo: 17, claims: [{ category: "packageMissing", daysAgo: 2 }] },
        ],
      },
      { daysAgo: 9, shipments: [{ claims: [{ decision: "rejection" }, { category: "wrongItem", comment: "Blue" }] }] },
    ]);
    const [partial, whole] = planted.orders;
    const { order } = (await get(`/orders/${partial?.reference}`)).body;
    expect(order.orderlines[0]).toMatchObject({ quantity: 3, shippedQuantity: 3 });
    const claims = [...(partial?.shipments[1]?.claims ?? []), ...(whole?.shipments[0]?.claims ?? [])];
    const read = await Promise.all(claims.map(async (claim) => (await get(`/claims/${claim}`)).body.claim));
    expect(read.map(({ status, created, comment }) => ({ status, created, comment }))).toEqual([
      { status: "pending", created: "2026-10-31T09:00:00.000Z", comment: "" },
      { status: "rejected", created: "2026-11-02T09:00:00.000Z", comment: "" },
      { status: "pending", created: "2026-11-02T09:00:00.000Z", comment: "Blue" },
    ]);
    expect(read[0].claimlines[0]).toMatchObject({ quantity: 2 });
    const again = { shipmentReference: partial?.shipments[1]?.reference, evidenceReferences: [] };
    expect((await post("/claim-package-missing", { claim: again })).status).toBe(409);
  });

  it.each([
    [{ store: "NOWHERE" }, "orders[1]: There is no store NOWHERE"],
    [{ orderlines: [{ product: "socks" }] }, "orders[1]: There is no product socks"],
    [{ orderlines: [{ product: "screenProtector", image: "a" }] }, "is not printed: remove the image"],
    [{ orderlines: [{ canceledQuantity: 2 }] }, "orders[1]: Line 1 has the quantity 1; 2 cannot be canceled"],
    [{ dropshipAddress: { countryCode: "KP" } }, "orders[1]: The service does not deliver to KP"],
    [{ shipments: [{ daysAgo: 1 }] }, "orders[1]: The shipment is older than its order"],
    [{ shipments: [{}, {}] }, "has nothing left to ship"],
    [{ shipments: [{ claims: [{ category: "packageMissing" }] }] }, "a package-missing claim is possible from"],
    [{ shipments: [{ claims: [{ category: "late" }] }] }, "orders[1]: There is no claim category late"],
    [{ quantity: 1 }, "orders.1.quantity: is not a known field"],
    [{ orderlines: [{ quantity: 0 }] }, "orders"],
  ])("is refused when it is %j, and nothing is added", async (order, message) => {
    const { emulator } = setUp({ seed: { orders: 1 } });
    const before = emulator.world();
    expect(() => emulator.seed({ orders: [{}, order as SeedOrder] })).toThrow(
      expect.objectContaining<Partial<ControlError>>({
        message: expect.stringMatching(new RegExp(literal(message), "i")),
      }),
    );
    expect(emulator.world()).toEqual(before);
  });
});

it("a number of orders gives their references", async () => {
  const { emulator, get } = setUp();
  const { orders } = emulator.seed({ orders: 2 });
  expect(orders.map(({ shipments }) => shipments)).toEqual([[], []]);
  const listed = (await get("/orders")).body.orders.map(({ reference }: { reference: string }) => reference);
  expect(listed.sort()).toEqual(orders.map(({ reference }) => reference).sort());
});

describe("a claim of a seed about a shipment that exists", () => {
  it("is filed with its category, lines and comment", async () => {
    const { emulator, get, planted } = seeded([{ orderlines: [{ quantity: 3 }] }]);
    const order = planted.orders[0]?.reference ?? "Order_";
    const shipment = emulator.ship(order);
    const lines = [{ index: 1, quantity: 2 }];
    const { claims } = emulator.seed({
      claims: [{ shipment, category: "wrongItem", lines, comment: "Blue, not red" }],
    });
    const { claim } = (await get(`/claims/${claims[0]}`)).body;
    expect(claim).toMatchObject({ status: "pending", shipmentReference: shipment, comment: "Blue, not red" });
    expect(claim.claimlines).toMatchObject([{ orderlineIndex: 1, quantity: 2 }]);
  });

  it("is refused for an unknown shipment, and nothing is added", async () => {
    const { emulator, get } = seeded([]);
    const claims = [{ shipment: "Shipment_00000000000000000000000000" } as const];
    expect(() => emulator.seed({ orders: [{}], claims })).toThrow("claims[0]: The emulator has no shipment");
    expect((await get("/orders")).body.orders).toEqual([]);
  });
});

describe("the option `seed`", () => {
  it("describes orders, which a reset brings back", async () => {
    const { emulator, get } = setUp({ seed: { number: 1, orders: [{ customIdentifier: "a", shipments: [{}] }, {}] } });
    const before = (await get("/orders")).body;
    expect(before.orders).toHaveLength(2);
    emulator.reset();
    expect((await get("/orders")).body).toEqual(before);
  });

  it("with an invalid order leaves no port open", async () => {
    await expect(startEmulator({ seed: { orders: [{ store: "NOWHERE" }] } })).rejects.toThrow(
      "There is no store NOWHERE",
    );
  });
});

it("different seed numbers never give the same reference, and equal ones always do", () => {
  const references = (number: number) => {
    const emulator = createEmulator({ seed: { number, orders: [{ shipments: [{ claims: [{}] }] }] } });
    const text = JSON.stringify([emulator.world(), emulator.demo]);
    return new Set(text.match(/[A-Z][a-z]+_[0-9a-z]{26}/g));
  };
  const numbers = fc.tuple(fc.nat(), fc.nat()).filter(([one, other]) => one !== other);
  fc.assert(
    fc.property(numbers, ([one, other]) => {
      const first = references(one);
      expect(first.size).toBeGreaterThan(40);
      expect(references(one)).toEqual(first);
      expect([...references(other)].filter((reference) => first.has(reference))).toEqual([]);
    }),
    { numRuns: 20, seed: 12 },
  );
});
