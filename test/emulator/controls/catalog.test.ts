import { createEmulator, createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { createParts } from "../../../src/emulator/server/emulator.ts";
import { setUp } from "../support.ts";

describe("the stock", () => {
  it("of a warehouse item and of a product is set by hand, and saved", async () => {
    const { emulator, demo, get } = setUp();
    const { items } = (await get("/items")).body;
    const item = items.find(({ sku }: { sku: string }) => sku === "GLASS-IP16");
    emulator.setStock(item.reference, { physicalQuantity: 1_990 });
    emulator.setStock(item.reference, { logicalQuantity: 7 });
    emulator.updateProduct(demo.products.screenProtector, { availableQuantity: 3 });
    const other = createEmulator({ clock: createManualClock() });
    other.load(emulator.world());
    const send = (path: string) =>
      other.fetch(other.baseUrl + path, { headers: { "X-Service-Secret-Key": other.secretKey } });
    const loaded = (await (await send("/items")).json()) as { items: { sku: string }[] };
    expect(loaded.items.find(({ sku }) => sku === "GLASS-IP16")).toEqual({
      ...item,
      logicalQuantity: 7,
      physicalQuantity: 1_990,
    });
    const detail = (await (await send(`/products/${demo.products.screenProtector}`)).json()) as { product: unknown };
    expect(detail.product).toMatchObject({ availableQuantity: 3 });
    expect(() => emulator.setStock(`Item_${"0".repeat(26)}`, {})).toThrow("no warehouse item Item_0");
  });
});

describe("a replaced example image", () => {
  it("has another picture, ETag and Last-Modified under the same name", async () => {
    const { emulator, demo, get } = setUp();
    const path = `/products/${demo.products.slimCase}/media/example.png`;
    const before = await get(path);
    const etag = before.headers.get("ETag") ?? "";
    const unchanged = async () => (await get(path, { "If-None-Match": etag })).status;
    expect(await unchanged()).toBe(304);
    await emulator.clock.advance({ days: 1 });
    emulator.replaceMedia(demo.products.slimCase);
    const after = await get(path);
    expect(await unchanged()).toBe(200);
    expect(Buffer.from(after.body).equals(Buffer.from(before.body))).toBe(false);
    expect(after.headers.get("ETag")).not.toBe(etag);
    expect(after.headers.get("Last-Modified")).toBe("Tue, 03 Nov 2026 09:00:00 GMT");
    expect(after.headers.get("Cache-Control")).toBe("private, no-cache");
    const since = { "If-Modified-Since": before.headers.get("Last-Modified") ?? "" };
    expect((await get(path, since)).status).toBe(200);
  });

  it("changes neither the other products nor the render", async () => {
    const { emulator, demo, get } = setUp();
    const paths = [`${demo.products.slimCase}/media/render.png`, `${demo.products.toughCase}/media/example.png`];
    const tags = async () =>
      Promise.all(paths.map(async (path) => (await get(`/products/${path}`)).headers.get("ETag")));
    const before = await tags();
    emulator.replaceMedia(demo.products.slimCase);
    expect(await tags()).toEqual(before);
  });
});

it("a replaced example render has a new name in `media`, because clients may cache a render for a year", async () => {
  const { emulator, demo, get } = setUp();
  const product = demo.products.slimCase;
  const mediaOf = async () => (await get(`/products/${product}`)).body.product.media;
  const [example, render] = await mediaOf();
  emulator.replaceMedia(product, { example: false, render: true });
  const [sameExample, newRender] = await mediaOf();
  expect(sameExample).toEqual(example);
  expect(newRender.filename).not.toBe(render.filename);
  const statusOf = async ({ filename }: { filename: string }) => get(`/products/${product}/media/${filename}`);
  expect((await statusOf(render)).status).toBe(404);
  const file = await statusOf(newRender);
  expect([file.status, file.headers.get("Cache-Control")]).toEqual([200, "private, max-age=31536000, immutable"]);
  const saved = emulator.world();
  emulator.reset();
  expect(await mediaOf()).toEqual([example, render]);
  emulator.load(saved);
  expect(await mediaOf()).toEqual([example, newRender]);
});

it("the completion of a render by the clock is a change, as a control is", async () => {
  const clock = createManualClock();
  const { emulator, emulation } = createParts({ clock, renderDuration: 3_000 });
  const send = async (method: string, path: string, body?: string | Uint8Array<ArrayBuffer>) => {
    const type = typeof body === "string" ? "application/json" : "application/octet-stream";
    const headers = { "X-Service-Secret-Key": emulator.secretKey, "Content-Type": type };
    const response = await emulator.fetch(emulator.baseUrl + path, { method, headers, ...(body && { body }) });
    return (await response.json()) as Record<string, { reference: string }>;
  };
  const { scenes, products, perspectives } = emulator.demo;
  const query = `sceneReference=${scenes.studio}&productReference=${products.slimCase}&perspectiveReference=${perspectives.front}`;
  const { composition } = await send("GET", `/lookup-composition?${query}`);
  const { image } = await send("POST", "/images", new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 0, 16, 74, 70, 73, 70]));
  const render = { compositionReference: composition?.reference, imageReference: image?.reference };
  await send("POST", "/renders", JSON.stringify({ render }));
  let changes = 0;
  const remove = emulation.onChange(() => {
    changes += 1;
  });
  await emulator.clock.advance(2_999);
  expect(changes).toBe(1); // the time
  await emulator.clock.advance(1);
  expect(changes).toBe(3); // the time and the render
  emulator.drain("default");
  expect(changes).toBe(4);
  remove();
  emulator.drain("default");
  expect(changes).toBe(4);
});
