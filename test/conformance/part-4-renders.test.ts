import { expect, it } from "vitest";
import { minute } from "./support/clock.ts";
import { createRender, imageOf, renderInput, unknownRef } from "./support/inputs.ts";
import { expectCreated, expectRefusal, type Service, startService } from "./support/service.ts";
import { expectShape, list, object, ref } from "./support/shapes.ts";

async function ok(service: Service, path: string) {
  const { status, body } = await service.get(path);
  expect(status).toBe(200);
  return body;
}

const referencesOf = (resources: readonly { reference: string }[]) => resources.map(({ reference }) => reference);

it("4.6 GET /scenes: a productgroup selects the scenes that are compatible with it", async () => {
  await using service = await startService();
  const { scenes } = await ok(service, "/scenes");
  expect(scenes.length).toBeGreaterThan(1);
  for (const productgroup of Object.values(service.demo.productgroups)) {
    const expected = [];
    for (const { reference } of scenes) {
      const { scene } = await ok(service, `/scenes/${reference}`);
      if (referencesOf(scene.compatibleProductgroups).includes(productgroup)) expected.push(reference);
    }
    const selected = await ok(service, `/scenes?productgroupReference=${productgroup}`);
    expect(referencesOf(selected.scenes)).toEqual(expected);
  }
  expectRefusal(await service.get("/scenes?productgroupReference=slim"), 400);
});

it("4.6 GET /perspectives: a scene or a product selects its perspectives", async () => {
  await using service = await startService();
  const { perspectives } = await ok(service, "/perspectives");
  const { studio } = service.demo.scenes;
  const { slimCase } = service.demo.products;
  const linked = (field: string, reference: string) =>
    perspectives
      .filter((one: Readonly<Record<string, { reference: string }[] | null>>) =>
        referencesOf(one[field] ?? []).includes(reference),
      )
      .map(({ reference: own }: { reference: string }) => own);
  const ofScene = await ok(service, `/perspectives?sceneReference=${studio}`);
  expect(referencesOf(ofScene.perspectives)).toEqual(linked("scenes", studio));
  const ofProduct = await ok(service, `/perspectives?productReference=${slimCase}`);
  expect(referencesOf(ofProduct.perspectives)).toEqual(linked("products", slimCase));
  expect(linked("products", slimCase)).toHaveLength(1);
  expectRefusal(await service.get(`/perspectives?sceneReference=${slimCase}`), 400);
});

it("4.6 GET /perspectives: a scene and a product select what composes", async () => {
  await using service = await startService();
  const { scenes, products } = service.demo;
  const every = referencesOf((await ok(service, "/perspectives")).perspectives);
  for (const sceneReference of [scenes.studio, scenes.desk]) {
    const query = { sceneReference, productReference: products.slimCase };
    const { perspectives } = await ok(service, `/perspectives?${new URLSearchParams(query)}`);
    const composing = [];
    for (const perspectiveReference of every) {
      if ((await lookup(service, { ...query, perspectiveReference })).status === 200)
        composing.push(perspectiveReference);
    }
    expect(referencesOf(perspectives)).toEqual(composing);
  }
});

const lookup = ({ get, demo }: Service, changes: Readonly<Record<string, string>> = {}) => {
  const { scenes, products, perspectives } = demo;
  const query = { sceneReference: scenes.desk, productReference: products.slimCase };
  return get(
    `/lookup-composition?${new URLSearchParams({ ...query, perspectiveReference: perspectives.front, ...changes })}`,
  );
};

it("4.6 GET /lookup-composition: the combination's composition has the same token cost by its reference", async () => {
  await using service = await startService();
  const { status, body } = await lookup(service);
  expect(status).toBe(200);
  expect((await ok(service, `/compositions/${body.composition.reference}`)).composition).toEqual(body.composition);
});

it("4.6 GET /lookup-composition: a combination that does not exist has 404", async () => {
  await using service = await startService();
  expectRefusal(await lookup(service, { perspectiveReference: service.demo.perspectives.angled }), 404);
  expectRefusal(await lookup(service, { productReference: service.demo.products.screenProtector }), 404);
  expectRefusal(await lookup(service, { sceneReference: unknownRef("Scene") }), 404);
});

it("4.6 GET /lookup-composition, 7 status 410: a combination that is no longer available has 410", async () => {
  await using service = await startService();
  service.emulator.updateProduct(service.demo.products.slimCase, { status: "archived" });
  expectRefusal(await lookup(service), 410);
});

it("4.6 GET /lookup-composition: each query parameter is required", async () => {
  await using service = await startService();
  const { scenes, products, perspectives } = service.demo;
  const full = {
    sceneReference: scenes.desk,
    productReference: products.slimCase,
    perspectiveReference: perspectives.front,
  };
  for (const name of Object.keys(full)) {
    const query = new URLSearchParams(full);
    query.delete(name);
    expectRefusal(await service.get(`/lookup-composition?${query}`), 400);
  }
});

it("4.6 POST /renders: both fields are required and must exist", async () => {
  await using service = await startService();
  const { render } = await renderInput(service);
  const created = await service.post("/renders", { render });
  expectCreated(created);
  expectShape(created.body, object({ render: object({ reference: ref("Render") }) }));
  for (const field of ["compositionReference", "imageReference"]) {
    expectRefusal(await service.post("/renders", { render: { ...render, [field]: undefined } }), 400);
  }
  expectRefusal(await service.post("/renders", { render: { ...render, imageReference: unknownRef("Image") } }), "4xx");
});

/** Checks the responses of one of a render's files: 202, then 200 at the time that Retry-After named. */
async function expectFile(service: Service, part: "media" | "thumbnail") {
  const render = await createRender(service);
  // The time that is left is not a number of whole seconds.
  service.clock.advance(500);
  const pending = await service.get(`/renders/${render}/${part}`);
  expect([pending.status, pending.bytes.byteLength]).toEqual([202, 0]);
  const seconds = pending.headers.get("Retry-After") ?? "";
  expect(seconds).toMatch(/^[1-9]\d*$/);
  service.clock.advance(Number(seconds) * 1000);
  const ready = await service.get(`/renders/${render}/${part}`);
  expect([ready.status, ready.headers.get("Content-Type")]).toEqual([200, expect.stringMatching(/^image\//)]);
  expectRefusal(await service.get(`/renders/${unknownRef("Render")}/${part}`), 404);
}

it("4.6 GET /renders/{renderReference}/media, 7 status 202: 202 until the time of Retry-After, then the file", async () => {
  await using service = await startService({ renderDuration: 90_000 });
  await expectFile(service, "media");
});

it("4.6 GET /renders/{renderReference}/thumbnail, 7 status 202: 202 until the time of Retry-After, then the file", async () => {
  await using service = await startService({ renderDuration: 90_000 });
  await expectFile(service, "thumbnail");
});

it("4.6 GET /rendertokens: it has the tokens of the week", async () => {
  await using service = await startService({ rendertokenLimit: 77 });
  expect((await ok(service, "/rendertokens")).rendertokens).toMatchObject({ used: 0, limit: 77, remaining: 77 });
});

it("4.6 rule 1: the same composition and image give the same render, others give another", async () => {
  await using service = await startService();
  const first = await createRender(service);
  service.clock.advance(10 * minute);
  expect(await createRender(service)).toBe(first);
  expect(await createRender(service, "another design")).not.toBe(first);
});

const tokens = async (service: Service) => (await ok(service, "/rendertokens")).rendertokens;

it("4.6 rule 2: each creation deducts the composition's cost, also for an existing render", async () => {
  await using service = await startService();
  const { render } = await renderInput(service);
  const { tokenCost } = (await ok(service, `/compositions/${render.compositionReference}`)).composition;
  for (const times of [1, 2, 3]) {
    await service.post("/renders", { render });
    expect((await tokens(service)).used).toBe(times * tokenCost);
  }
});

it("4.6 rule 2: a refused creation deducts nothing", async () => {
  await using service = await startService();
  const { render } = await renderInput(service);
  await service.post("/renders", { render: { ...render, imageReference: unknownRef("Image") } });
  expect((await tokens(service)).used).toBe(0);
});

it("4.6 rule 2, 7 status 429, 7 code rendertoken_limit_exceeded: when too few tokens remain, 429 with the time until the reset, and none is deducted", async () => {
  await using service = await startService({ rendertokenLimit: 3, start: "2026-06-03T10:00:00Z" });
  const composed = await lookup(service);
  const { reference: compositionReference, tokenCost } = composed.body.composition;
  expect(tokenCost).toBe(2);
  const render = { compositionReference, imageReference: await imageOf(service) };
  expectCreated(await service.post("/renders", { render }));
  const refused = await service.post("/renders", { render });
  expectRefusal(refused, 429, "rendertoken_limit_exceeded");
  const { used, remaining, resets } = await tokens(service);
  expect([used, remaining]).toEqual([2, 1]);
  expect(Number(refused.headers.get("Retry-After")) * 1000).toBe(Date.parse(resets) - service.clock.now());
});

it("4.6 rule 3: the files of completed renders are private and immutable for a year, with 304", async () => {
  await using service = await startService();
  const render = await createRender(service);
  service.emulator.completeRender(render);
  for (const part of ["media", "thumbnail"]) {
    const { headers } = await service.get(`/renders/${render}/${part}`);
    expect(headers.get("Cache-Control")).toBe("private, max-age=31536000, immutable");
    const condition = { "If-None-Match": headers.get("ETag") ?? "" };
    expect((await service.get(`/renders/${render}/${part}`, condition)).status).toBe(304);
  }
});

it("4.6 GET /perspectives: every entry of a selection is a perspective", async () => {
  await using service = await startService();
  const { perspectives } = await ok(service, `/perspectives?sceneReference=${service.demo.scenes.campaign}`);
  expectShape(perspectives, list(object({ reference: ref("Perspective"), output: object() })));
});
