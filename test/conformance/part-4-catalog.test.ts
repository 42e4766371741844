import { expect, it } from "vitest";
import { png } from "./support/images.ts";
import { address, placeOrder, readOrder, unknownRef } from "./support/inputs.ts";
import { expectRefusal, type Service, startService } from "./support/service.ts";
import { expectShape, list, object, ref, text, textsOf } from "./support/shapes.ts";

/** Reads a path that must succeed. */
async function ok(service: Service, path: string) {
  const { status, headers, body } = await service.get(path);
  expect(status).toBe(200);
  expect(headers.get("Content-Type")).toMatch(/^application\/json/);
  return body;
}

it("4.1 POST /auth/validate, 5 rule 5: a valid key has 200 with a message", async () => {
  await using service = await startService();
  const { status, body } = await service.post("/auth/validate");
  expect(status).toBe(200);
  expectShape(body, object({ message: text }));
});

it("4.1 POST /auth/validate, 5 rule 5: another key has 401", async () => {
  await using service = await startService();
  expectRefusal(await service.send("POST", "/auth/validate", { key: "another-secret-key" }), 401);
  expectRefusal(await service.send("POST", "/auth/validate", { key: null }), 401);
});

it("4.2 GET /organization: it has the organization's record", async () => {
  await using service = await startService();
  expectShape(await ok(service, "/organization"), object({ organization: object() }));
});

it("4.2 GET /accounts, 4.2 GET /stores, 5 rule 3: all of an organization are listed, and orders are read across its stores", async () => {
  await using service = await startService();
  expect((await ok(service, "/accounts")).accounts).toHaveLength(2);
  const { stores } = await ok(service, "/stores");
  expectShape(stores, list(object({ reference: ref("Store") })));
  const references = stores.map(({ reference }: { reference: string }) => reference);
  expect(references.sort()).toEqual(Object.values(service.demo.stores).sort());
  const { api, wholesale } = service.demo.stores;
  for (const storeReference of [api, wholesale]) await placeOrder(service, { storeReference });
  expect((await ok(service, "/orders")).orders).toHaveLength(2);
});

/** The URLs of a product's media, read from its record: the shape of the entries is not shown. */
async function mediaOf(service: Service, product: string = service.demo.products.slimCase) {
  const { media } = (await ok(service, `/products/${product}`)).product;
  const files = textsOf(media).flatMap((one) => /([^/]+\.(png|jpe?g))$/.exec(one)?.[1] ?? []);
  return [...new Set(files)].map((filename) => `/products/${product}/media/${filename}`);
}

it("4.3 GET /products/{productReference}/media/{filename}: it has a binary file, or 404", async () => {
  await using service = await startService();
  const paths = await mediaOf(service);
  expect(paths.length).toBeGreaterThan(1);
  for (const path of paths) {
    const { status, headers, bytes } = await service.get(path);
    expect([status, headers.get("Content-Type")]).toEqual([200, expect.stringMatching(/^image\/(png|jpeg)$/)]);
    expect(bytes.byteLength).toBeGreaterThan(100);
  }
  const { slimCase, slimCase8 } = service.demo.products;
  expectRefusal(await service.get(`/products/${slimCase}/media/nothing.png`), 404);
  expectRefusal(await service.get(`/products/${slimCase8}/media/render.png`), 410);
});

it("4.3 render media: a product's render is private and immutable for a year", async () => {
  await using service = await startService();
  const headers = await Promise.all((await mediaOf(service)).map(async (path) => (await service.get(path)).headers));
  const policies = headers.map((one) => one.get("Cache-Control"));
  expect(policies.filter((policy) => policy === "private, max-age=31536000, immutable")).toHaveLength(1);
});

it("4.3 example images: they are revalidated each time, and unchanged ones have 304", async () => {
  await using service = await startService();
  const responses = await Promise.all(
    (await mediaOf(service)).map(async (path) => ({ path, ...(await service.get(path)) })),
  );
  const examples = responses.filter(({ headers }) => headers.get("Cache-Control") === "private, no-cache");
  expect(examples.length).toBeGreaterThan(0);
  for (const { path, headers } of examples) await expectConditional((given) => service.get(path, given), headers);
});

/** Checks that both conditions give 304 without a body, and that stale ones give 200. */
async function expectConditional(
  get: (headers: Readonly<Record<string, string>>) => Promise<{ status: number; bytes: Uint8Array; headers: Headers }>,
  headers: Headers,
) {
  const etag = headers.get("ETag") ?? "";
  const modified = headers.get("Last-Modified") ?? "";
  expect(etag).toMatch(/^(W\/)?"[^"]+"$/);
  expect(new Date(modified).toUTCString()).toBe(modified);
  const current: readonly Record<string, string>[] = [{ "If-None-Match": etag }, { "If-Modified-Since": modified }];
  for (const given of current) {
    const { status, bytes, headers: unchanged } = await get(given);
    expect([status, bytes.byteLength, unchanged.get("ETag")]).toEqual([304, 0, etag]);
  }
  const earlier = new Date(Date.parse(modified) - 1000).toUTCString();
  const stale: readonly Record<string, string>[] = [
    { "If-None-Match": '"other"' },
    { "If-Modified-Since": earlier },
    { "If-None-Match": '"other"', "If-Modified-Since": modified },
  ];
  for (const given of stale) expect((await get(given)).status).toBe(200);
}

it("4.3 layer images, 7 status 304: both conditions give 304 while the layers are unchanged", async () => {
  await using service = await startService();
  const { slimCase } = service.demo.products;
  const [url = ""] = textsOf((await ok(service, `/products/${slimCase}`)).product.layers).filter((one) =>
    /^http/.test(one),
  );
  const { headers, bytes } = await service.getUrl(url);
  await expectConditional((given) => service.getUrl(url, given), headers);
  service.emulator.updateProduct(slimCase, { layers: true });
  const changed = await service.getUrl(url, { "If-None-Match": headers.get("ETag") ?? "" });
  expect(changed.status).toBe(200);
  expect(changed.bytes).not.toEqual(bytes);
});

const addressOf = async (service: Service, order: string): Promise<string> =>
  (await readOrder(service, order)).dropshipAddressReference;

it("4.4 GET /addresses/{addressReference}: it has the address of an order, or 404", async () => {
  await using service = await startService();
  const reference = await addressOf(service, await placeOrder(service));
  expect((await ok(service, `/addresses/${reference}`)).address).toMatchObject(address);
  expectRefusal(await service.get(`/addresses/${unknownRef("Address")}`), 404);
});

const replace = (service: Service, order: string, city: string) =>
  service.put(`/orders/${order}/dropship-address`, { dropshipAddress: { ...address, city } });

it("4.4 replaced: the old address has 404, the new one resolves", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  const old = await addressOf(service, order);
  await replace(service, order, "Utrecht");
  expectRefusal(await service.get(`/addresses/${old}`), 404);
  expect((await ok(service, `/addresses/${await addressOf(service, order)}`)).address.city).toBe("Utrecht");
});

it("4.4 shipped: an address that a shipment was created with resolves after two replacements", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  const used = await addressOf(service, order);
  service.emulator.ship(order, { lines: [{ index: 1, quantity: 1 }] });
  await replace(service, order, "Utrecht");
  const unused = await addressOf(service, order);
  await replace(service, order, "Leiden");
  expect((await ok(service, `/addresses/${used}`)).address.city).toBe("Amsterdam");
  expectRefusal(await service.get(`/addresses/${unused}`), 404);
});

it.each(["/images", "/evidence"])("4.5 content type: %s refuses a body of another type", async (path) => {
  await using service = await startService();
  for (const type of ["application/json", "image/png", "multipart/form-data; boundary=x", "text/plain"]) {
    const sent = { bytes: png("front"), headers: { "Content-Type": type } };
    expectRefusal(await service.send("POST", path, sent), 400);
  }
});
