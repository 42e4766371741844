import { describe, expect, it } from "vitest";
import { address, dropship, placeOrder, problem, referenceOf, setUp } from "../support.ts";

const timestamp = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
const reference = (kind: string) => expect.stringMatching(referenceOf(kind));

describe("organization", () => {
  it("responds with the organization and its accounts, stores and brands", async () => {
    const { get } = setUp();
    expect((await get("/organization")).body).toEqual({ organization: { name: "Demo Prints", environment: "test" } });
    expect((await get("/accounts")).body.accounts).toEqual(
      ["Demo Prints Europe", "Demo Prints World"].map((name) => ({ reference: reference("Account"), name })),
    );
    expect((await get("/brands")).body.brands).toContainEqual({ reference: reference("Brand"), name: "Demo Prints" });
  });

  it("responds with stores that have their integration and legacy code", async () => {
    const { get, demo } = setUp();
    const { stores } = (await get("/stores")).body;
    expect(stores).toHaveLength(3);
    expect(stores).toContainEqual({
      reference: demo.stores.shopify,
      name: "Demo on Shopify",
      integration: "shopify",
      legacyCode: "SHOPD",
    });
  });
});

describe("products", () => {
  it("lists every product that is not archived, newest first", async () => {
    const { get, demo } = setUp();
    const { products, nextCursor } = (await get("/products")).body;
    expect(products).toHaveLength(14);
    expect(nextCursor).toBeNull();
    expect(products[0]).toEqual({
      reference: demo.products.slimCaseFold,
      name: "Slim case iPhone Fold",
      status: "announced",
      availableQuantity: 0,
      layersModified: timestamp,
      printModified: timestamp,
      legacyItemSKU: "SLIM-IPFP1",
    });
    const stages = new Set(products.map(({ status }: { status: string }) => status));
    expect(stages).toEqual(new Set(["announced", "prelaunched", "launched", "sunsetted", "ended"]));
  });

  it("responds with a complete product", async () => {
    const { get, demo } = setUp();
    const { product } = (await get(`/products/${demo.products.slimCase}`)).body;
    const at = `http://emulator.test/v2/products/${demo.products.slimCase}`;
    expect(product).toMatchObject({
      reference: demo.products.slimCase,
      status: "launched",
      layers: { modified: product.layersModified, images: [{ name: "base", url: `${at}/layers/base.png` }] },
      print: { modified: product.printModified },
      weightGrams: 28,
      media: [
        { filename: "example.png", url: `${at}/media/example.png` },
        { filename: "render.png", url: `${at}/media/render.png` },
      ],
    });
    expect((await get(`/products/${demo.products.toughCasePro}`)).body.product.weightGrams).toBeNull();
  });

  it("responds with 410 for an archived product and its files", async () => {
    const { get, demo } = setUp();
    for (const path of ["", "/media/render.png", "/layers/base.png"]) {
      expect(problem(await get(`/products/${demo.products.slimCase8}${path}`))).toEqual({ status: 410, code: "gone" });
    }
  });

  it("gives each of several products of one item a legacy SKU, and finds them by it", async () => {
    const { get, demo } = setUp();
    const path = "/utilities/lookup-product-reference-by-legacy-sku?legacyItemSku=";
    expect((await get(`${path}GLASS-IP16`)).body).toEqual({ productReference: demo.products.screenProtector });
    expect((await get(`${path}GLASS-IP16P2`)).body).toEqual({ productReference: demo.products.screenProtectorTwoPack });
    expect(problem(await get(`${path}NONE`))).toEqual({ status: 404, code: "not_found" });
  });

  it("changes when the test changes them", async () => {
    const { get, demo, emulator, clock } = setUp();
    await clock.set("2026-12-01T00:00:00Z");
    emulator.updateProduct(demo.products.slimCase, { availableQuantity: 3, layers: true, print: true });
    const { product } = (await get(`/products/${demo.products.slimCase}`)).body;
    expect(product).toMatchObject({
      availableQuantity: 3,
      layersModified: "2026-12-01T00:00:00.000Z",
      printModified: "2026-12-01T00:00:00.000Z",
    });
    expect(() => emulator.updateProduct(`Product_${"0".repeat(26)}`, {})).toThrow("no product");
  });
});

describe("files", () => {
  it("have cache headers: example images must be revalidated, and renders may be kept forever", async () => {
    const { get, demo } = setUp();
    const media = `/products/${demo.products.slimCase}/media`;
    const example = await get(`${media}/example.png`);
    expect(example.headers.get("Cache-Control")).toBe("private, no-cache");
    expect(example.headers.get("Content-Length")).toBe(String(example.body.byteLength));
    const render = await get(`${media}/render.png`);
    expect(render.headers.get("Cache-Control")).toBe("private, max-age=31536000, immutable");
    expect(problem(await get(`${media}/none.png`))).toEqual({ status: 404, code: "not_found" });
  });

  it.each(["media/example.png", "layers/base.png"])("respond with 304 when %s matches", async (file) => {
    const { get, demo } = setUp();
    const path = `/products/${demo.products.slimCase}/${file}`;
    const { headers } = await get(path);
    const etag = headers.get("ETag") ?? "";
    const modified = headers.get("Last-Modified") ?? "";
    const known: Record<string, string>[] = [
      { "If-None-Match": `"x", W/${etag}` },
      { "If-None-Match": "*" },
      { "If-Modified-Since": modified },
    ];
    for (const headers of known) {
      const response = await get(path, headers);
      expect({ status: response.status, etag: response.headers.get("ETag"), size: response.body.byteLength }).toEqual({
        status: 304,
        etag,
        size: 0,
      });
    }
    expect((await get(path, { "If-None-Match": '"x"', "If-Modified-Since": modified })).status).toBe(200);
    expect((await get(path, { "If-Modified-Since": "Thu, 01 Jan 1970 00:00:00 GMT" })).status).toBe(200);
    expect((await get(path, { "If-Modified-Since": "nonsense" })).status).toBe(200);
  });

  it("include another layer image after a change", async () => {
    const { get, demo, emulator, clock } = setUp();
    const path = `/products/${demo.products.slimCase}/layers/base.png`;
    const etag = (await get(path)).headers.get("ETag") ?? "";
    await clock.advance(1000);
    emulator.updateProduct(demo.products.slimCase, { layers: true });
    expect((await get(path, { "If-None-Match": etag })).status).toBe(200);
    expect((await get(`/products/${demo.products.slimCaseFold}/layers/base.png`)).status).toBe(404);
  });
});

it("lists productgroups, packagings and warehouse items", async () => {
  const { get, demo } = setUp();
  expect((await get("/productgroups")).body.productgroups).toContainEqual({
    reference: demo.productgroups.slimCases,
    name: "Slim cases",
  });
  expect((await get("/packagings")).body.packagings[0]).toEqual({
    reference: reference("Packaging"),
    name: "Mailbox parcel",
  });
  const { items, nextCursor } = (await get("/items")).body;
  expect(nextCursor).toBeNull();
  expect(items).toContainEqual({
    reference: reference("Item"),
    sku: "GLASS-IP16",
    logicalQuantity: 2000,
    physicalQuantity: 2000,
    products: [{ reference: demo.products.screenProtector }, { reference: demo.products.screenProtectorTwoPack }],
  });
});

describe("addresses", () => {
  it("return an order's address until another one replaces it", async () => {
    const bench = setUp();
    const order = await placeOrder(bench);
    const before = (await bench.get(`/orders/${order}`)).body.order.dropshipAddressReference;
    expect((await bench.get(`/addresses/${before}`)).body.address).toEqual({ reference: before, ...address });
    await bench.put(`/orders/${order}/dropship-address`, { dropshipAddress: { ...address, city: "Utrecht" } });
    const after = (await bench.get(`/orders/${order}`)).body.order.dropshipAddressReference;
    expect((await bench.get(`/addresses/${after}`)).body.address.city).toBe("Utrecht");
    expect((await bench.get(`/addresses/${before}`)).status).toBe(404);
  });

  it("keep an address that a shipment used", async () => {
    const bench = setUp();
    const order = await placeOrder(bench);
    const before = (await bench.get(`/orders/${order}`)).body.order.dropshipAddressReference;
    bench.emulator.ship(order, { lines: [{ index: 1, quantity: 1 }] });
    await bench.put(`/orders/${order}/dropship-address`, { dropshipAddress: address });
    expect((await bench.get(`/addresses/${before}`)).status).toBe(200);
  });
});

interface ListedOrders {
  readonly orders: readonly { readonly legacyOrderCode: string }[];
  readonly nextCursor: string | null;
}

describe("pages", () => {
  it("list every order once, newest first, then an empty page without a cursor when the last one was full", async () => {
    const { get } = setUp({ seed: { orders: 6 }, pageSize: 3 });
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { orders, nextCursor }: ListedOrders = (await get(`/orders${cursor && `?cursor=${cursor}`}`)).body;
      seen.push(...orders.map(({ legacyOrderCode }) => legacyOrderCode));
      sizes.push(orders.length);
      cursor = nextCursor;
    }
    expect(sizes).toEqual([3, 3, 0]);
    expect(seen).toEqual([6, 5, 4, 3, 2, 1].map((number) => `DEMO-10000${number}`));
  });

  it("neither repeat nor hide an order when another is created between two pages", async () => {
    const bench = setUp({ seed: { orders: 3 }, pageSize: 2 });
    const first = (await bench.get("/orders")).body;
    await bench.post("/orders", await dropship(bench));
    const second = (await bench.get(`/orders?cursor=${first.nextCursor}`)).body;
    expect(second).toMatchObject({ orders: [{ legacyOrderCode: "DEMO-100001" }], nextCursor: null });
  });

  it("have 50 items by default", async () => {
    const { get } = setUp({ seed: { orders: 51 } });
    expect((await get("/orders")).body.orders).toHaveLength(50);
  });
});
