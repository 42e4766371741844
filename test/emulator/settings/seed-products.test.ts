import { type ControlError, validOrder } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import type { SeedProduct } from "../../../src/emulator/settings/seed.ts";
import { problem, setUp, unknownReference } from "../support.ts";

/** An emulator whose time is 2026-11-02T09:00:00Z, with the products of a seed. */
const seeded = (...products: readonly SeedProduct[]) => {
  const bench = setUp();
  return { ...bench, products: bench.emulator.seed({ products }).products };
};

describe("a product of a seed", () => {
  it("is by default a launched, printed slim case that was created now", async () => {
    const { get, products } = seeded({ name: "Clear case iPhone 17" });
    const { body } = await get(`/products/${products[0]}`);
    expect(body.product).toMatchObject({
      reference: products[0],
      name: "Clear case iPhone 17",
      status: "launched",
      availableQuantity: 100,
      weightGrams: 30,
      legacyItemSKU: "CLEAR-CASE-IPHONE-17P1",
      layersModified: "2026-11-02T09:00:00.000Z",
      printModified: "2026-11-02T09:00:00.000Z",
    });
    expect(body.product.layers.images).toHaveLength(1);
    const listed = (await get("/products")).body.products;
    expect(listed.map((product: { reference: string }) => product.reference)).toContain(products[0]);
    const item = (await get("/items")).body.items.find(({ sku }: { sku: string }) => sku === "CLEAR-CASE-IPHONE-17");
    expect(item).toMatchObject({ logicalQuantity: 100, physicalQuantity: 100, products: [{ reference: products[0] }] });
  });

  it("may have an unknown stock while it is announced", async () => {
    const { emulator, get, products } = seeded({ name: "Case of 2027", status: "announced", availableQuantity: null });
    const [reference] = products;
    if (reference === undefined) throw new Error("no product");
    expect((await get(`/products/${reference}`)).body.product.availableQuantity).toBe(null);
    const saved = emulator.world();
    const message = "Only an announced product may lack its availableQuantity";
    expect(() => emulator.updateProduct(reference, { status: "launched" })).toThrow(message);
    emulator.updateProduct(reference, { status: "launched", availableQuantity: 5, weightGrams: null });
    expect((await get(`/products/${reference}`)).body.product).toMatchObject({
      availableQuantity: 5,
      weightGrams: null,
    });
    emulator.load(saved);
    expect(emulator.world().products).toEqual(saved.products);
    expect(() => emulator.seed({ products: [{ name: "Other", availableQuantity: null }] })).toThrow(message);
  });

  it("has the fields of its description", async () => {
    const reference = unknownReference("Product") as `Product_${string}`;
    const { get, post, products, demo, emulator } = seeded({
      name: "Camera glass",
      reference,
      productgroup: "accessories",
      status: "ended",
      printed: false,
      availableQuantity: 7,
      weightGrams: null,
      sku: "GLASS-CAM",
      daysAgo: 365,
    });
    expect(products).toEqual([reference]);
    const { product } = (await get(`/products/${reference}`)).body;
    expect(product).toMatchObject({
      status: "ended",
      availableQuantity: 7,
      weightGrams: null,
      legacyItemSKU: "GLASS-CAM",
      printModified: "2025-11-02T09:00:00.000Z",
    });
    const path = "/utilities/lookup-product-reference-by-legacy-sku?legacyItemSku=GLASS-CAM";
    expect((await get(path)).body).toEqual({ productReference: reference });
    const order = validOrder(emulator, { orderlines: [{ productReference: reference, quantity: 1 }] });
    expect(problem(await post("/orders", { order }))).toEqual({ status: 400, code: "product_not_orderable" });
    emulator.updateProduct(reference, { status: "launched" });
    expect((await post("/orders", { order })).status).toBe(200);
    expect(demo.products.slimCase).not.toBe(reference);
  });

  it("can be ordered, rendered and named by the orders of the seed", async () => {
    const { emulator, get, post, image, demo } = setUp();
    const { products, orders } = emulator.seed({
      products: [{ name: "mug" }, { name: "Glass", printed: false, reference: `Product_${"a".repeat(26)}` }],
      orders: [{ orderlines: [{ product: "mug", quantity: 2 }, { product: "Glass" }], shipments: [{ claims: [{}] }] }],
    });
    const { order } = (await get(`/orders/${orders[0]?.reference}`)).body;
    expect(order.orderlines).toMatchObject([
      { productReference: products[0], quantity: 2, legacySku: "MUGP1" },
      { productReference: products[1], imageReference: null },
    ]);
    const query = `sceneReference=${demo.scenes.studio}&productReference=${products[0]}&perspectiveReference=${demo.perspectives.front}`;
    const { composition } = (await get(`/lookup-composition?${query}`)).body;
    const render = { compositionReference: composition.reference, imageReference: await image() };
    expect((await post("/renders", { render })).status).toBe(200);
  });

  it.each<[SeedProduct, string]>([
    [{ name: "slimCase" }, "products[1]: There is a product slimCase already"],
    [{ name: "Mug" }, "products[1]: There is a product Mug already"],
    [{ name: "Cup", sku: "MUG", daysAgo: 0, productgroup: "cups" }, "products[1]: There is no productgroup cups"],
    [{ name: "Cup", sku: "SLIM-IP16", daysAgo: 3000 }, "There is a product with the legacy SKU SLIM-IP16 already"],
    [{ name: "Cup", daysAgo: 1e9 }, "products.1.daysAgo: "],
    [{ name: "" }, "products.1.name: "],
    [{ name: "Cup", stock: 1 } as SeedProduct, "products.1.stock: is not a known field"],
  ])("is refused when it is %j, and nothing is added", (product, message) => {
    const { emulator } = setUp();
    const before = emulator.world();
    expect(() => emulator.seed({ products: [{ name: "Mug" }, product] })).toThrow(
      expect.objectContaining<Partial<ControlError>>({ message: expect.stringContaining(message) }),
    );
    expect(emulator.world()).toEqual(before);
  });
});

describe("the products of a seed", () => {
  it("are visible to every organization, except those of the private group", async () => {
    const { emulator, get } = setUp({
      organizations: [{ name: "Other prints", keys: [{ secretKey: "key-of-other-prints" }] }],
    });
    const { products } = emulator.seed({ products: [{ name: "Mug" }, { name: "Own", productgroup: "customCases" }] });
    const other = { "X-Service-Secret-Key": "key-of-other-prints" };
    const statuses = (headers: Record<string, string>) =>
      Promise.all(products.map(async (product) => (await get(`/products/${product}`, headers)).status));
    expect(await statuses(other)).toEqual([200, 404]);
    expect(await statuses({})).toEqual([200, 200]);
  });

  it("are part of a saved world, a checkpoint and the start", async () => {
    const seed = { number: 4, products: [{ name: "Mug" }], orders: [{ orderlines: [{ product: "Mug" }] }] };
    const { emulator } = setUp({ seed });
    const start = emulator.world();
    emulator.checkpoint();
    const { products } = emulator.seed({ products: [{ name: "Cup" }] });
    emulator.updateProduct(products[0] ?? "Product_", { availableQuantity: 3 });
    const saved = JSON.parse(JSON.stringify(emulator.world()));
    for (const other of [setUp().emulator, emulator]) {
      other.load(structuredClone(saved));
      expect(JSON.parse(JSON.stringify(other.world()))).toEqual(saved);
    }
    emulator.rewind();
    expect(emulator.world()).toEqual(start);
    emulator.load(structuredClone(saved));
    emulator.reset();
    expect(emulator.world()).toEqual(start);
  });

  it("of a saved world must not contradict the catalog", () => {
    const { emulator } = setUp({ seed: { products: [{ name: "Mug" }] } });
    const before = emulator.world();
    const [mug] = before.addedProducts;
    if (mug === undefined) throw new Error("no product");
    const load = (addedProducts: typeof before.addedProducts) => () => emulator.load({ ...before, addedProducts });
    expect(load([])).toThrow(/is not in the catalog of the world's seed/);
    expect(load([mug, mug])).toThrow("There is a product Mug already");
    expect(load([{ ...mug, productgroup: unknownReference("Productgroup") as never }])).toThrow(
      "There is no productgroup",
    );
    expect(emulator.world()).toEqual(before);
  });
});
