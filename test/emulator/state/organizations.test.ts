import { PodPartner } from "pod-partner";
import { createEmulator, type EmulatorOptions, validOrder } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { problem, setUp, unknownReference } from "../support.ts";

const other = {
  name: "Other",
  keys: [{ secretKey: "key-of-the-other-organization" }, { secretKey: "second-key-of-the-other" }],
  stores: [
    { name: "Other shop", legacyCode: "OTHER" },
    { name: "Other platform", legacyCode: "OPLAT", integration: "shopify" },
  ],
};
const readOnly = { secretKey: "key-that-may-only-read", permissions: ["orders.get", "GET /orders", "organization.*"] };

/** An emulator of two organizations, and requests with the key of either. */
function two(options: EmulatorOptions = {}) {
  const bench = setUp({ organizations: [other], ...options });
  const withKey = (secretKey: string) => {
    const headers = { "X-Service-Secret-Key": secretKey, "Content-Type": "application/json" };
    return {
      get: (path: string) => bench.send("GET", path, { headers }),
      post: (path: string, body: unknown) => bench.send("POST", path, { headers, body: JSON.stringify(body) }),
    };
  };
  return { ...bench, withKey, others: withKey(other.keys[0]?.secretKey ?? "") };
}

describe("an organization", () => {
  it("sees its own stores, accounts and brands", async () => {
    const { get, others } = two();
    const names = (body: { stores: { name: string }[] }) => body.stores.map(({ name }) => name);
    expect(names((await others.get("/stores")).body)).toEqual(["Other shop", "Other platform"]);
    expect(names((await get("/stores")).body)).toEqual(["Demo webshop", "Demo wholesale", "Demo on Shopify"]);
    expect((await others.get("/organization")).body.organization.name).toBe("Other");
    const references = async (send: typeof get, list: string) => JSON.stringify((await send(`/${list}`)).body);
    for (const list of ["accounts", "brands"]) {
      expect(await references(others.get, list)).not.toBe(await references(get, list));
    }
  });

  it("never sees another's orders, addresses, shipments, claims, images, renders or evidence", async () => {
    const { emulator, get, post, others, demo } = two();
    const { orders } = emulator.seed({
      orders: [{ customIdentifier: "mine", daysAgo: 9, shipments: [{ claims: [{}] }] }],
    });
    const [order] = orders;
    const [shipment] = order?.shipments ?? [];
    const { claim } = (await get(`/claims/${shipment?.claims[0]}`)).body;
    const { dropshipAddressReference } = (await get(`/orders/${order?.reference}`)).body.order;
    const { images } = (await get("/images")).body;
    const render = { compositionReference: demo.compositions.studio, imageReference: images[0].reference };
    const created = (await post("/renders", { render })).body.render.reference;
    const evidence = new URL(claim.claimlines[0].evidenceUrls[0]).pathname.slice("/v2".length);
    const paths = [
      `/orders/${order?.reference}`,
      `/addresses/${dropshipAddressReference}`,
      `/shipments/${shipment?.reference}`,
      `/claims/${claim.reference}`,
      `/renders/${created}`,
      "/utilities/lookup-order-reference-by-custom-identifier?customIdentifier=mine",
      evidence,
    ];
    for (const path of paths) {
      expect([path, (await get(path)).status]).toEqual([path, 200]);
      expect([path, problem(await others.get(path))]).toEqual([path, { status: 404, code: "not_found" }]);
    }
    for (const list of ["orders", "claims", "images", "items"]) {
      expect((await others.get(`/${list}`)).body[list]).toEqual([]);
    }
    const claims = { shipmentReference: shipment?.reference, evidenceReferences: [] };
    expect((await others.post("/claim-package-missing", { claim: claims })).status).toBe(400);
    expect((await others.post("/renders", { render })).status).toBe(400);
    expect((await others.post("/orders", { order: validOrder(emulator) })).status).toBe(400);
  });

  it("shares the catalog, except the private productgroup and the private scene of the demo organization", async () => {
    const { get, others, demo } = two();
    const own = JSON.stringify([
      (await get("/products")).body,
      (await get("/productgroups")).body,
      (await get("/scenes")).body,
    ]);
    const shared = ["/products", "/productgroups", "/scenes", "/perspectives", `/scenes/${demo.scenes.studio}`];
    const seen = JSON.stringify(await Promise.all(shared.map(async (path) => (await others.get(path)).body)));
    for (const secret of [demo.products.customCase, demo.productgroups.customCases, demo.scenes.campaign]) {
      expect([own.includes(secret), seen.includes(secret)]).toEqual([true, false]);
    }
    expect(seen).toContain(demo.products.slimCase);
    expect((await others.get(`/products/${demo.products.customCase}`)).status).toBe(404);
    expect((await others.get(`/compositions/${demo.compositions.campaign}`)).status).toBe(404);
  });

  it("has its own customIdentifiers, rate limits and rendertokens, which all of its keys share", async () => {
    const { emulator, get, withKey } = two({
      organizations: [{ ...other, limits: { default: { quota: 3, window: 60_000 } }, rendertokenLimit: 7 }],
    });
    const [first, second] = other.keys.map(({ secretKey }) => withKey(secretKey));
    expect((await first?.get("/rendertokens"))?.body.rendertokens.limit).toBe(7);
    expect((await get("/rendertokens")).body.rendertokens.limit).toBe(1000);
    expect((await second?.get("/stores"))?.headers.get("X-RateLimit")).toContain("r=1");
    expect((await first?.get("/stores"))?.status).toBe(200);
    expect((await second?.get("/stores"))?.body.code).toBe("rate_limited");
    expect((await get("/stores")).status).toBe(200);
    emulator.drain("default", { organization: "Other" });
    emulator.drain("default");
    expect((await get("/stores")).body.code).toBe("rate_limited");
    expect(() => emulator.drain("default", { organization: "None" })).toThrow("There is no organization None");
  });

  it("orders in its own stores, except those of a platform, and the controls find its records", async () => {
    const { emulator, others } = two();
    const [store, platform] = (await others.get("/stores")).body.stores;
    const partner = new PodPartner({ ...emulator.clientOptions, secretKey: other.keys[0]?.secretKey ?? "" });
    const order = validOrder(emulator, {
      storeReference: store.reference,
      orderlines: [{ productReference: emulator.demo.products.screenProtector, quantity: 1 }],
    });
    const { reference } = await partner.orders.create(order);
    const shipment = await partner.shipments.get(emulator.ship(reference));
    expect(shipment.orders).toHaveLength(1);
    const refused = await others.post("/orders", { order: { ...order, storeReference: platform.reference } });
    expect(problem(refused)).toEqual({ status: 403, code: "store_not_writable_via_api" });
    const unknown = unknownReference("Store") as `Store_${string}`;
    expect((await others.post("/orders", { order: { ...order, storeReference: unknown } })).status).toBe(400);
    const planted = emulator.seed({ orders: [{ store: "OTHER", shipments: [{ claims: [{}] }] }] });
    expect((await partner.orders.get(planted.orders[0]?.reference ?? reference)).legacyOrderCode).toMatch(/^OTHER-/);
  });
});

describe("a key", () => {
  it("makes only the calls of its permissions, and its other requests use tokens, too (specification 5, 8)", async () => {
    const { withKey, emulator } = two({ keys: [readOnly] });
    const { get, post } = withKey(readOnly.secretKey);
    for (const path of ["/orders", "/stores", "/accounts"]) expect((await get(path)).status).toBe(200);
    expect((await get(`/orders/${unknownReference("Order")}`)).status).toBe(404);
    const refused = await post("/orders", { order: validOrder(emulator) });
    expect(problem(refused)).toEqual({ status: 403, code: "permission_denied" });
    expect(refused.headers.get("X-RateLimit")).toContain("r=2995");
    expect((await get("/products")).status).toBe(403);
    expect((await emulator.fetch(`${emulator.baseUrl}/products`)).status).toBe(401);
  });

  it("can be revoked and get other permissions at run time", async () => {
    const { get, emulator } = two();
    emulator.updateKey(emulator.secretKey, { revoked: true });
    expect((await get("/stores")).status).toBe(401);
    emulator.updateKey(emulator.secretKey, { revoked: false, permissions: ["orders.*"] });
    expect([(await get("/stores")).status, (await get("/orders")).status]).toEqual([403, 200]);
    emulator.updateKey(emulator.secretKey, { permissions: null });
    expect((await get("/stores")).status).toBe(200);
    expect(() => emulator.updateKey("none-of-the-keys", {})).toThrow("The emulator has no such key");
    expect(() => emulator.updateKey(emulator.secretKey, { permissions: ["order.*"] })).toThrow("no call order.*");
  });

  it("is the `createdBy` of the claims that it files", async () => {
    const { emulator, get, withKey } = two({ keys: [{ secretKey: "second-key-of-the-demo" }] });
    const createdBy = async (secretKey: string) => {
      const [order] = emulator.seed({ orders: [{ daysAgo: 30, shipments: [{}] }] }).orders;
      const claim = { shipmentReference: order?.shipments[0]?.reference, evidenceReferences: [] };
      const { reference } = (await withKey(secretKey).post("/claim-package-missing", { claim })).body.claim;
      return (await get(`/claims/${reference}`)).body.claim.createdBy;
    };
    const keys = [await createdBy(emulator.secretKey), await createdBy("second-key-of-the-demo")];
    expect(keys[0]).toMatch(/^Key_/);
    expect(new Set(keys).size).toBe(2);
  });

  it("of an integrator marks the orders that it creates", async () => {
    const { emulator, withKey } = two({ keys: [{ secretKey: "key-of-an-integrator", integrator: "CHANNEL" }] });
    await withKey("key-of-an-integrator").post("/orders", { order: validOrder(emulator) });
    await withKey(emulator.secretKey).post("/orders", { order: validOrder(emulator) });
    const codes = emulator.world().organizations[0]?.orders.map(({ viaStoreCode }) => viaStoreCode);
    expect(codes).toEqual(["CHANNEL", undefined]);
  });
});

it("a saved world has the organizations with their keys, and another emulator continues with them", async () => {
  const { emulator } = two({ keys: [readOnly] });
  emulator.seed({ orders: [{ store: "OTHER" }] });
  emulator.updateKey(readOnly.secretKey, { revoked: true });
  const saved = emulator.world();
  const copy = createEmulator();
  copy.load(saved);
  expect(copy.world()).toEqual({ ...saved, clock: expect.anything() });
  const partner = new PodPartner({ ...copy.clientOptions, secretKey: other.keys[1]?.secretKey ?? "" });
  expect(await partner.orders.list().toArray()).toHaveLength(1);
});

it("an endpoint that is not available responds with 501 (specification 7, rule 2)", async () => {
  const { get, post, emulator } = setUp({ unavailable: ["orders.quote", "GET /items", "renders.*"] });
  expect(problem(await post("/quote", {}))).toEqual({ status: 501, code: "not_implemented" });
  expect((await get("/items")).status).toBe(501);
  expect((await get(`/renders/${unknownReference("Render")}`)).status).toBe(501);
  expect((await post("/orders", { order: validOrder(emulator) })).status).toBe(200);
});

it.each<[EmulatorOptions, string]>([
  [
    { organizations: [other, { ...other, keys: [{ secretKey: "a-third-key" }] }] },
    "two organizations have the name Other",
  ],
  [{ organizations: [{ ...other, name: "Demo Prints" }] }, "two organizations have the name Demo Prints"],
  [{ keys: [{ secretKey: "emulator-secret-key" }] }, "two keys are equal"],
  [
    { organizations: [{ ...other, stores: [{ name: "x", legacyCode: "DEMO" }] }] },
    "two stores have the legacyCode DEMO",
  ],
  [{ keys: [{ secretKey: "another-key", permissions: ["order.get"] }] }, "the unknown call order.get"],
  [{ organizations: [{ name: "Other", keys: [] }] }, "an organization needs at least one key"],
  [{ unavailable: ["quotes"] }, "quotes is an unknown call"],
])("options that contradict each other are refused: %j", (options, message) => {
  expect(() => createEmulator(options)).toThrow(message);
});
