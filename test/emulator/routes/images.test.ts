import { inflateSync } from "node:zlib";
import { sampleImage } from "pod-partner/testing";
import { expect, it } from "vitest";
import { setUp } from "../support.ts";

/** Reads a PNG as a viewer does: its signature, its size, and every pixel. */
function openPng(bytes: Uint8Array) {
  const png = Buffer.from(bytes);
  expect(png.subarray(0, 8).toString("hex")).toBe("89504e470d0a1a0a");
  let data = Buffer.alloc(0);
  let at = 8;
  for (let type = ""; type !== "IEND"; ) {
    const length = png.readUInt32BE(at);
    type = png.toString("latin1", at + 4, at + 8);
    if (type === "IDAT") data = Buffer.concat([data, png.subarray(at + 8, at + 8 + length)]);
    at += length + 12;
  }
  expect(at).toBe(png.length);
  const size = { width: png.readUInt32BE(16), height: png.readUInt32BE(20) };
  expect(inflateSync(data)).toHaveLength((size.width * 3 + 1) * size.height);
  return size;
}

it("accepts an image in small chunks", async () => {
  const { send, upload } = setUp();
  const whole = (await upload("/images")).body;
  const body = ReadableStream.from(Array.from(sampleImage(), (byte) => new Uint8Array([byte])));
  const headers = { "Content-Type": "application/octet-stream" };
  expect((await send("POST", "/images", { headers, body, duplex: "half" })).body).toEqual(whole);
});

it("draws valid pictures: media, thumbnails, product media, layer images and samples", async () => {
  const { get, post, image, demo, clock } = setUp();
  const query = `sceneReference=${demo.scenes.studio}&productReference=${demo.products.slimCase}`;
  const found = await get(`/lookup-composition?${query}&perspectiveReference=${demo.perspectives.front}`);
  const render = { compositionReference: found.body.composition.reference, imageReference: await image() };
  const { reference } = (await post("/renders", { render })).body.render;
  await clock.advance(3000);
  expect(openPng((await get(`/renders/${reference}/media`)).body)).toEqual({ width: 600, height: 800 });
  expect(openPng((await get(`/renders/${reference}/thumbnail`)).body)).toEqual({ width: 150, height: 200 });

  const { product } = (await get(`/products/${demo.products.slimCase}`)).body;
  for (const { url } of [...product.media, ...product.layers.images]) {
    const response = await get(url.replace("http://emulator.test/v2", ""));
    expect(response.headers.get("Content-Type")).toBe("image/png");
    openPng(response.body);
  }
  expect(openPng(sampleImage())).toEqual({ width: 60, height: 80 });
});

it("draws a render in the colours of its image", async () => {
  const { get, post, upload, demo, clock } = setUp();
  const query = `sceneReference=${demo.scenes.studio}&productReference=${demo.products.slimCase}`;
  const { composition } = (await get(`/lookup-composition?${query}&perspectiveReference=${demo.perspectives.front}`))
    .body;
  const pictures: Uint8Array[] = [];
  for (const name of ["one", "two"]) {
    const { image } = (await upload("/images", sampleImage(name))).body;
    const render = { compositionReference: composition.reference, imageReference: image.reference };
    const { reference } = (await post("/renders", { render })).body.render;
    await clock.advance(3000);
    pictures.push((await get(`/renders/${reference}/thumbnail`)).body);
  }
  expect(pictures[0]).not.toEqual(pictures[1]);
});
