import { PodPartner } from "pod-partner";
import { createManualClock, sampleImage, validImage } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { type Bench, problem, setUp } from "../support.ts";

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

describe("renders", () => {
  it("complete or fail when the test says so, once", async () => {
    const bench = setUp();
    const render = await rendered(bench);
    bench.emulator.completeRender(render);
    expect((await bench.get(`/renders/${render}`)).body.render.status).toBe("completed");
    expect(() => bench.emulator.failRender(render)).toThrow("is completed");
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
      const statusOf = async (one: string) => (await bench.get(`/renders/${one}`)).body.render.status;
      if (renderDuration > 0) expect(await statusOf(reference)).toBe("pending");
      await bench.clock.advance(renderDuration);
      expect([without.hits, fault.hits]).toEqual([1, 1]);
      expect([await statusOf(done), await statusOf(reference)]).toEqual(["completed", "failed"]);
      expect(problem(await bench.get(`/renders/${reference}/media`))).toEqual({ status: 409, code: "render_failed" });
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
