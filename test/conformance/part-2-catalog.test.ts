import { expect, it } from "vitest";
import { day } from "./support/clock.ts";
import { jpeg, png } from "./support/images.ts";
import { claimed, evidenceOf, itemClaim, shipped } from "./support/inputs.ts";
import { expectCreated, expectRefusal, type Service, startService } from "./support/service.ts";
import {
  expectShape,
  filled,
  integer,
  list,
  nullOr,
  object,
  oneOf,
  ref,
  text,
  textsOf,
  timestamp,
} from "./support/shapes.ts";

/** The fields of a product in the list (2.6). */
const listed = {
  reference: ref("Product"),
  name: filled,
  status: oneOf("announced", "prelaunched", "launched", "sunsetted", "ended", "archived"),
  availableQuantity: integer,
  layersModified: timestamp,
  printModified: timestamp,
  legacyItemSKU: filled,
};

const productsOf = async (service: Service) => (await service.get("/products")).body.products;
const productOf = async (service: Service, reference: string) =>
  (await service.get(`/products/${reference}`)).body.product;

it("2.6 list: every product of the list has the seven fields", async () => {
  await using service = await startService();
  const products = await productsOf(service);
  expect(products.length).toBeGreaterThan(10);
  expectShape(products, list(object(listed)));
});

it("2.6 detail: every product has the fields of the list, with the same values, and the mirrored times", async () => {
  await using service = await startService();
  const mirrored = { layers: object({ modified: timestamp }), print: object({ modified: timestamp }) };
  for (const product of await productsOf(service)) {
    const detail = await productOf(service, product.reference);
    expectShape(detail, object({ ...listed, ...mirrored }));
    expect(detail).toMatchObject(product);
  }
});

it("2.6 detail: a printed product has layer image URLs, which return an image", async () => {
  await using service = await startService();
  const { layers } = await productOf(service, service.demo.products.slimCase);
  const urls = textsOf(layers).filter((text) => text.startsWith("http"));
  expect(urls.length).toBeGreaterThan(0);
  for (const url of urls) expect((await service.getUrl(url)).headers.get("Content-Type")).toMatch(/^image\//);
});

it.each([
  ["2.6 layersModified", "layers", "layersModified", "printModified"],
  ["2.6 printModified", "print", "printModified", "layersModified"],
] as const)("%s: it is bumped in the list and the detail, and only it", async (_, change, field, other) => {
  await using service = await startService();
  const { slimCase } = service.demo.products;
  const before = await productOf(service, slimCase);
  service.emulator.updateProduct(slimCase, { [change]: true });
  const after = await productOf(service, slimCase);
  expect(Date.parse(after[field])).toBe(service.clock.now());
  expect(after[field]).not.toBe(before[field]);
  expect(after[other]).toBe(before[other]);
  expect(after[change].modified).toBe(after[field]);
  const { reference } = after;
  expect(await productsOf(service)).toContainEqual(expect.objectContaining({ reference, [field]: after[field] }));
});

it("2.6 weightGrams: it is a number of grams, or null when not yet measured", async () => {
  await using service = await startService();
  const weights = [];
  for (const { reference } of await productsOf(service))
    weights.push((await productOf(service, reference)).weightGrams);
  expectShape(weights, list(nullOr(integer)));
  expect(weights).toContain(null);
  expect(weights.filter((weight) => weight > 0).length).toBeGreaterThan(5);
});

it("2.6 media: every product has an array of media", async () => {
  await using service = await startService();
  for (const { reference } of await productsOf(service)) {
    expectShape(await productOf(service, reference), object({ media: list(object()) }));
  }
});

/** Each product's legacy SKU, with the SKU of its warehouse item. */
async function skusOf(service: Service): Promise<readonly (readonly [legacy: string, item: string])[]> {
  const { items } = (await service.get("/items")).body;
  const itemOf = (product: string) =>
    items.find(({ products }: { products: unknown }) => textsOf(products).includes(product));
  const products = await productsOf(service);
  return products.map(({ reference, legacyItemSKU }: { reference: string; legacyItemSKU: string }) => [
    legacyItemSKU,
    itemOf(reference).sku,
  ]);
}

it("2.6 legacy SKU: it is unique, and is its item's SKU or that SKU with P and digits", async () => {
  await using service = await startService();
  const skus = await skusOf(service);
  expect(new Set(skus.map(([legacy]) => legacy)).size).toBe(skus.length);
  for (const [legacy, item] of skus) expect(legacy.replace(item, "")).toMatch(/^(P\d+)?$/);
});

it("2.7 image, 4.5 POST /images: a JPEG and a PNG are accepted, and are in the list", async () => {
  await using service = await startService();
  const references = [];
  for (const bytes of [jpeg, png("front")]) {
    const uploaded = await service.upload("/images", bytes);
    expectCreated(uploaded);
    expectShape(uploaded.body, object({ image: object({ reference: ref("Image") }) }));
    references.push(uploaded.body.image.reference);
  }
  expect(new Set(references).size).toBe(2);
  const { images } = (await service.get("/images")).body;
  expectShape(images, list(object({ reference: ref("Image") })));
  expect(textsOf(images)).toEqual(expect.arrayContaining(references));
});

const notImages = ["", "GIF89a", "%PDF-1.7", "RIFF\0\0\0\0WEBP", "\x89PN", "<svg/>"];

it.each(notImages)("2.7 image, 2.7 evidence: a file that begins with %j is refused", async (content) => {
  await using service = await startService();
  const bytes = new Uint8Array(Buffer.from(content, "latin1"));
  expectRefusal(await service.upload("/images", bytes), 400);
  expectRefusal(await service.upload("/evidence", bytes), 400);
});

it("2.7 same content: identical content has the same reference, and is in the list once", async () => {
  await using service = await startService();
  const upload = async () => (await service.upload("/images", png("front"))).body.image.reference;
  expect(await upload()).toBe(await upload());
  expect((await service.get("/images")).body.images).toHaveLength(1);
});

it("2.7 evidence, 4.5 POST /evidence: a JPEG and a PNG are accepted", async () => {
  await using service = await startService();
  for (const bytes of [jpeg, png("photo")]) {
    const uploaded = await service.upload("/evidence", bytes);
    expectCreated(uploaded);
    expectShape(uploaded.body, object({ evidence: object({ reference: ref("Evidence") }) }));
  }
});

it("2.7 unused evidence, 8 limit unused evidence: it can be used within a day, and not afterwards", async () => {
  await using service = await startService();
  const parcel = await shipped(service);
  const claimWith = async (evidence: string) =>
    service.post("/claim-item-issues", itemClaim(service, parcel, { evidenceReferences: [evidence] }));
  const [early, late] = [await evidenceOf(service, "early"), await evidenceOf(service, "late")];
  service.clock.advance(day - 1);
  expectCreated(await claimWith(early));
  service.clock.advance(2);
  expectRefusal(await claimWith(late), "4xx");
});

it("2.7 unused evidence: evidence of a claim is kept after a day", async () => {
  await using service = await startService();
  const { claim } = await claimed(service, { evidenceReferences: [await evidenceOf(service)] });
  service.clock.advance(30 * day);
  const { claimlines } = (await service.get(`/claims/${claim}`)).body.claim;
  expect((await service.getUrl(claimlines[0].evidenceUrls[0])).bytes).toEqual(png("photo"));
});

const itemsOf = async (service: Service) => (await service.get("/items")).body.items;

it("2.10 item: every item has five fields", async () => {
  await using service = await startService();
  const fields = { reference: ref("Item"), sku: filled, logicalQuantity: integer, physicalQuantity: integer };
  expectShape(await itemsOf(service), list(object({ ...fields, products: list(object()) })));
});

it("2.10 sku: a suffixed legacy SKU is not an item's SKU", async () => {
  await using service = await startService();
  const skus = await skusOf(service);
  const suffixed = skus.filter(([legacy, item]) => legacy !== item).map(([legacy]) => legacy);
  expect(suffixed.length).toBeGreaterThan(0);
  expect(skus.map(([, item]) => item).filter((item) => suffixed.includes(item))).toEqual([]);
});

it("2.11 store: every store has an integration and a legacy code", async () => {
  await using service = await startService();
  const { stores } = (await service.get("/stores")).body;
  expectShape(stores, list(object({ reference: ref("Store"), integration: text, legacyCode: filled })));
});
