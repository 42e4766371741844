import { expect, it } from "vitest";
import { sizeOf } from "./support/images.ts";
import { createRender, renderInput } from "./support/inputs.ts";
import { type Service, startService } from "./support/service.ts";
import {
  base64,
  expectShape,
  filled,
  flag,
  integer,
  like,
  list,
  nothing,
  nullOr,
  object,
  oneOf,
  ref,
  text,
  timestamp,
} from "./support/shapes.ts";

const perspectivesOf = async (service: Service) => (await service.get("/perspectives")).body.perspectives;
const renderOf = async (service: Service, reference: string) =>
  (await service.get(`/renders/${reference}`)).body.render;

it("2.9 scene: every scene has seven fields", async () => {
  await using service = await startService();
  const { scenes } = (await service.get("/scenes")).body;
  expect(scenes.length).toBeGreaterThan(1);
  const fields = {
    reference: ref("Scene"),
    name: filled,
    description: text,
    private: flag,
    allowsProductPerspectives: flag,
    compatibleProductgroups: list(object({ reference: ref("Productgroup") })),
    perspectives: list(object({ reference: ref("Perspective") })),
  };
  for (const { reference } of scenes) {
    const { scene } = (await service.get(`/scenes/${reference}`)).body;
    expectShape(scene, object(fields));
    expect(scene.reference).toBe(reference);
  }
});

it("2.9 scene list: every entry has a reference and a name", async () => {
  await using service = await startService();
  expectShape((await service.get("/scenes")).body.scenes, list(object({ reference: ref("Scene"), name: filled })));
});

const output = object({ widthPx: integer, heightPx: integer, format: filled });
const perspective = {
  reference: ref("Perspective"),
  name: filled,
  output,
  scenes: nullOr(list(object({ reference: ref("Scene") }))),
  products: nullOr(list(object({ reference: ref("Product") }))),
};

it("2.9 perspective: every perspective has five fields, in the list and by its reference", async () => {
  await using service = await startService();
  const perspectives = await perspectivesOf(service);
  expectShape(perspectives, list(object(perspective)));
  for (const { reference } of perspectives) {
    const { body } = await service.get(`/perspectives/${reference}`);
    expectShape(body.perspective, object(perspective));
    expect(body.perspective.reference).toBe(reference);
  }
});

it("2.9 perspective kinds: either scenes or products is set, and the other one is null", async () => {
  await using service = await startService();
  const perspectives = await perspectivesOf(service);
  const isNull = perspectives.map(({ scenes, products }: { scenes: unknown; products: unknown }) => [
    scenes === null,
    products === null,
  ]);
  expect(isNull).toContainEqual([true, false]);
  expect(isNull).toContainEqual([false, true]);
  for (const [scenes, products] of isNull) expect(scenes).not.toBe(products);
});

it("2.9 product perspectives: one composes only with its product, in scenes that allow it", async () => {
  await using service = await startService();
  const { scenes } = (await service.get("/scenes")).body;
  const own = (await perspectivesOf(service)).filter(({ products }: { products: unknown }) => products !== null);
  const product = service.demo.products.slimCase;
  const found: unknown[] = [];
  for (const { reference: sceneReference } of scenes) {
    const { allowsProductPerspectives } = (await service.get(`/scenes/${sceneReference}`)).body.scene;
    for (const { reference: perspectiveReference, products } of own) {
      const query = new URLSearchParams({ sceneReference, productReference: product, perspectiveReference });
      const { status } = await service.get(`/lookup-composition?${query}`);
      const isOwn = products.some(({ reference }: { reference: string }) => reference === product);
      expect(status).toBe(allowsProductPerspectives && isOwn ? 200 : 404);
      found.push(status);
    }
  }
  expect(found).toEqual(expect.arrayContaining([200, 404]));
});

it("2.9 composition: it has a reference and a whole number of tokens", async () => {
  await using service = await startService();
  const { render } = await renderInput(service);
  const { composition } = (await service.get(`/compositions/${render.compositionReference}`)).body;
  expectShape(composition, object({ reference: ref("Composition"), tokenCost: integer }));
});

const common = {
  reference: ref("Render"),
  compositionReference: ref("Composition"),
  imageReference: ref("Image"),
  status: oneOf("pending", "completed", "failed"),
  created: timestamp,
};

it("2.9 render: a pending and a completed one have the fields, with the input's references", async () => {
  await using service = await startService();
  const { render: input } = await renderInput(service);
  const render = await createRender(service);
  const pending = await renderOf(service, render);
  expectShape(pending, object(common));
  expect(pending).toMatchObject({ ...input, reference: render, status: "pending" });
  service.clock.advance(60_000);
  expectShape(await renderOf(service, render), object({ ...common, completed: timestamp }));
});

it("2.9 thumbhash: only a completed render has one", async () => {
  await using service = await startService();
  const render = await createRender(service, "one");
  const failed = await createRender(service, "other");
  const { thumbhash = null } = await renderOf(service, render);
  expect(thumbhash).toBeNull();
  service.emulator.failRender(failed);
  expectShape((await renderOf(service, failed)).thumbhash ?? null, nothing);
  service.emulator.completeRender(render);
  expectShape(await renderOf(service, render), object({ thumbhash: base64 }));
});

it("2.9 render files: media and thumbnail describe what is downloaded", async () => {
  await using service = await startService();
  const render = await createRender(service);
  service.emulator.completeRender(render);
  const body = await renderOf(service, render);
  for (const part of ["media", "thumbnail"]) {
    expectShape(body[part], object({ mimeType: like(/^image\//), extension: like(/^[a-z]+$/), size: integer }));
    const file = await service.get(`/renders/${render}/${part}`);
    expect(file.headers.get("Content-Type")).toBe(body[part].mimeType);
    expect(file.bytes.byteLength).toBe(body[part].size);
  }
});

it("2.9 output: the rendered file has the size and the format of its perspective", async () => {
  await using service = await startService();
  for (const name of ["front", "angled"] as const) {
    const created = await service.post("/renders", await renderInput(service, "design", name));
    const { reference } = created.body.render;
    service.emulator.completeRender(reference);
    const { body } = await service.get(`/perspectives/${service.demo.perspectives[name]}`);
    const { widthPx, heightPx, format } = body.perspective.output;
    const { bytes, headers } = await service.get(`/renders/${reference}/media`);
    expect(sizeOf(bytes)).toEqual([widthPx, heightPx]);
    expect(headers.get("Content-Type")).toBe(`image/${format}`);
  }
});

it("2.9 rendertokens: three whole numbers that add up, and a time with an offset", async () => {
  await using service = await startService();
  await createRender(service);
  const { rendertokens } = (await service.get("/rendertokens")).body;
  const resets = like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?[+-]\d\d:\d\d$/);
  expectShape(rendertokens, object({ used: integer, limit: integer, remaining: integer, resets }));
  expect(rendertokens.used).toBeGreaterThan(0);
  expect(rendertokens.used + rendertokens.remaining).toBe(rendertokens.limit);
});
