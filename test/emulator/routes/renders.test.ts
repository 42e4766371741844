import { PodPartner } from "pod-partner";
import { createManualClock, sampleImage, validImage } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { type Bench, problem, referenceOf, setUp } from "../support.ts";

const reference = (kind: string) => expect.stringMatching(referenceOf(kind));

const lookup = ({ get }: Bench, scene: string, product: string, perspective: string) =>
  get(`/lookup-composition?sceneReference=${scene}&productReference=${product}&perspectiveReference=${perspective}`);

/** A composition of the demo catalog that costs one token. */
async function composition(bench: Bench): Promise<string> {
  const { scenes, products, perspectives } = bench.demo;
  return (await lookup(bench, scenes.studio, products.slimCase, perspectives.front)).body.composition.reference;
}

async function rendered(bench: Bench): Promise<`Render_${string}`> {
  const render = { compositionReference: await composition(bench), imageReference: await bench.image() };
  return (await bench.post("/renders", { render })).body.render.reference;
}

describe("scenes and perspectives", () => {
  it("responds with the perspectives of scenes and products", async () => {
    const { get, demo } = setUp();
    const names = async (query: string) =>
      (await get(`/perspectives${query}`)).body.perspectives.map(({ name }: { name: string }) => name);
    const closeUp = "Close-up of Slim case iPhone 16";
    const product = `productReference=${demo.products.slimCase}`;
    expect(await names("")).toHaveLength(4);
    expect(await names(`?sceneReference=${demo.scenes.studio}`)).toEqual(["Front", "Angled"]);
    expect(await names(`?${product}`)).toEqual([closeUp]);
    expect(await names(`?sceneReference=${demo.scenes.studio}&${product}`)).toEqual(["Front", "Angled", closeUp]);
    expect(await names(`?sceneReference=${demo.scenes.desk}&${product}`)).toEqual(["Front"]);

    const [own] = (await get(`/perspectives?${product}`)).body.perspectives;
    expect((await get(`/perspectives/${own.reference}`)).body.perspective).toEqual({
      reference: reference("Perspective"),
      name: closeUp,
      output: { widthPx: 800, heightPx: 800, format: "png" },
      scenes: null,
      products: [{ reference: demo.products.slimCase }],
    });
    expect((await get(`/perspectives/${demo.perspectives.front}`)).body.perspective).toMatchObject({
      scenes: [{ reference: demo.scenes.studio }, { reference: demo.scenes.desk }],
      products: null,
    });
  });
});

describe("renders", () => {
  it("take the time that the test sets", async () => {
    const bench = setUp({ renderDuration: 60_000 });
    const render = await rendered(bench);
    await bench.clock.advance(59_001);
    expect((await bench.get(`/renders/${render}/media`)).headers.get("Retry-After")).toBe("1");
  });

  it("complete or fail when the test says so", async () => {
    const bench = setUp();
    const render = await rendered(bench);
    bench.emulator.completeRender(render);
    expect((await bench.get(`/renders/${render}`)).body.render.status).toBe("completed");
    expect(() => bench.emulator.failRender(render)).toThrow("is completed");

    const other = setUp();
    const failing = await rendered(other);
    other.emulator.failRender(failing);
    expect((await other.get(`/renders/${failing}`)).body.render).toMatchObject({ status: "failed", media: null });
    expect(problem(await other.get(`/renders/${failing}/media`))).toEqual({ status: 409, code: "render_failed" });
  });

  it("fail in the middle of a batch when a fault says so", async () => {
    const { emulator, clock } = setUp();
    const partner = new PodPartner(emulator.clientOptions);
    const fault = emulator.faults.add({ fault: "failRender", nth: 3 });
    const compositionReference = emulator.demo.compositions.studio;
    const rows = ["a", "b", "c", "d"].map((name) => ({ compositionReference, image: sampleImage(name) }));
    const outcomes = (async () => {
      const seen: boolean[] = [];
      for await (const outcome of partner.renders.batch(rows)) seen.push(outcome.ok);
      return seen;
    })();
    let isDone = false;
    const finished = outcomes.finally(() => {
      isDone = true;
    });
    while (!isDone) await clock.advance(1000);
    expect((await finished).toSorted()).toEqual([false, true, true, true]);
    expect(fault.hits).toBe(1);
    const [, , third] = emulator.requests.where({ on: "renders.create", status: 200 });
    expect(third?.fault).toBe("failRender");
  });

  it("fail by a fault only after `renderDuration`, and not when they are complete", async () => {
    const bench = setUp({ renderDuration: 5_000 });
    const done = await rendered(bench);
    bench.emulator.completeRender(done);
    bench.emulator.faults.add({ on: "POST /renders", fault: "failRender" });
    expect(await rendered(bench)).toBe(done);
    expect((await bench.get(`/renders/${done}`)).body.render.status).toBe("completed");
    const render = {
      compositionReference: await composition(bench),
      imageReference: validImage(bench.emulator, "new"),
    };
    const { reference } = (await bench.post("/renders", { render })).body.render;
    expect((await bench.get(`/renders/${reference}`)).body.render.status).toBe("pending");
    await bench.clock.advance(5_000);
    expect((await bench.get(`/renders/${reference}`)).body.render.status).toBe("failed");
    expect(() => bench.emulator.faults.add({ on: "orders.create", fault: "failRender" })).toThrow("A fault's on");
  });

  it.each([0, 1, 5_000])(
    "of %i ms fail by a fault, which leaves a completed render as it is",
    async (renderDuration) => {
      const bench = setUp({ renderDuration });
      const done = await rendered(bench);
      await bench.clock.advance(renderDuration);
      const without = bench.emulator.faults.add({ fault: "failRender" });
      expect(await rendered(bench)).toBe(done);
      without.remove();
      const fault = bench.emulator.faults.add({ fault: "failRender" });
      const imageReference = validImage(bench.emulator, "new");
      const render = { compositionReference: await composition(bench), imageReference };
      const { reference } = (await bench.post("/renders", { render })).body.render;
      await bench.clock.advance(renderDuration);
      const statusOf = async (one: string) => (await bench.get(`/renders/${one}`)).body.render.status;
      expect([without.hits, fault.hits]).toEqual([1, 1]);
      expect([await statusOf(done), await statusOf(reference)]).toEqual(["completed", "failed"]);
      expect(problem(await bench.get(`/renders/${reference}/media`)).code).toBe("render_failed");
    },
  );
});

describe("rendertokens", () => {
  it.each([
    "0000-01-01T00:00:00Z",
    "0000-02-29T12:00:00Z",
    "0099-12-31T23:59:59Z",
    "1900-03-01T00:00:00Z",
    "1937-06-30T22:00:00Z",
    "1969-12-31T23:59:59.999Z",
    "9999-12-26T22:59:59.999Z",
  ])("at %s are reset on a Monday in the seven days after it", async (now) => {
    const { get } = setUp({ clock: createManualClock(now) });
    const { resets } = (await get("/rendertokens")).body.rendertokens;
    expect(resets).toMatch(/^\d{4}-\d\d-\d\dT00:00:00\+\d\d:\d\d$/);
    expect(new Date(resets.slice(0, 10)).getUTCDay()).toBe(1);
    const wait = Date.parse(resets) - Date.parse(now);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(7 * 86_400_000);
  });

  it.each(["9999-12-27T00:00:00Z", "9999-12-31T23:59:58Z"])(
    "at %s, whose Monday has no date of four digits, are reset at the latest one",
    async (now) => {
      const { get } = setUp({ clock: createManualClock(now) });
      expect((await get("/rendertokens")).body.rendertokens.resets).toBe("9999-12-31T23:59:59+00:00");
    },
  );
});
