import type { MockupInput } from "pod-partner";
import { sampleImage } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { collect, setUpBatch, tally } from "./setup.ts";

type Setup = ReturnType<typeof setUpBatch>;

const partsOf = ({ demo }: Setup, product: "slimCase" | "slimCase8" | "screenProtector" = "slimCase") => ({
  sceneReference: demo.scenes.studio,
  productReference: demo.products[product],
  perspectiveReference: demo.perspectives.front,
});

const run = (setup: Setup, rows: Iterable<MockupInput>) =>
  // The clock stands still: reading an image takes time of the machine.
  collect(setup.connect().renders.batch(rows, { download: false }));

describe("an input of renders.batch", () => {
  it("can have a scene, a product and a perspective, which are looked up once, also in later runs", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const pairs = await setup.pairs(4);
    const rows = pairs.map(({ imageReference }) => ({ ...partsOf(setup), imageReference }));
    expect(tally(await run(setup, rows.slice(0, 2)))).toEqual({ ok: 2 });
    expect(tally(await run(setup, rows))).toEqual({ ok: 4 });
    expect(setup.count("GET /lookup-composition")).toBe(1);
    expect(setup.creations()).toEqual([1, 1, 1, 1]);
    // The same pairs by the reference of the composition.
    expect(tally(await run(setup, pairs))).toEqual({ ok: 4 });
    expect(setup.creations()).toEqual([1, 1, 1, 1]);
  });

  it("has a composition that is looked up again after a day: its cost may have changed", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const [pair] = await setup.pairs(1);
    if (pair === undefined) throw new Error("There is no pair");
    const lookUps = [];
    for (const hours of [0, 23, 2]) {
      await setup.clock.advance(hours * 3_600_000);
      expect(tally(await run(setup, [pair]))).toEqual({ ok: 1 });
      lookUps.push(setup.count("GET /compositions/"));
    }
    expect(lookUps).toEqual([1, 1, 2]);
  });

  it.each(["its reference", "its parts"])(
    'creates nothing when the composition of %s has no cost, also with `responses: "report"`',
    async (by) => {
      const setup = setUpBatch({ renderDuration: 0 });
      const [pair] = await setup.pairs(1);
      if (pair === undefined) throw new Error("There is no pair");
      const row = by === "its parts" ? { ...partsOf(setup), imageReference: pair.imageReference } : pair;
      const reference = pair.compositionReference;
      const fetch = async (request: Request, init?: RequestInit) =>
        /composition/.test(request.url)
          ? Response.json({ composition: { reference } })
          : setup.emulator.fetch(request, init);
      const { renders } = setup.connect({ fetch, responses: "report", hooks: { onInvalidResponse: () => undefined } });
      const [outcome] = await collect(renders.batch([row], { download: false, tokenBudget: 1 }));
      expect(outcome).toMatchObject({ ok: false, reason: "error", error: { name: "ResponseValidationError" } });
      expect(await setup.used()).toBe(0);
    },
  );

  it("has the composition of its own reference, and its cost", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const rows = [...(await setup.pairs(1, "studio")), ...(await setup.pairs(1, "desk"))];
    const outcomes = await collect(setup.partner.renders.batch(rows, { download: false }));
    const made = outcomes.map((outcome) => outcome.ok && outcome.value.render.compositionReference);
    expect(made.sort()).toEqual(rows.map(({ compositionReference }) => compositionReference).sort());
    expect(await setup.used()).toBe(3);
  });

  it("can have an image to upload, whose content is uploaded once", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const rows = [1, 2, 1].map((n) => ({ ...partsOf(setup), image: sampleImage(String(n)) }));
    expect(tally(await run(setup, rows))).toEqual({ ok: 3 });
    expect(tally(await run(setup, rows))).toEqual({ ok: 3 });
    expect([setup.count("POST /images"), setup.creations()]).toEqual([2, [1, 1]]);
  });

  it("whose look-up receives the 404 of a gateway is an error, and is looked up again by the next row", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const [pair] = await setup.pairs(1);
    if (pair === undefined) throw new Error("There is no pair");
    const page = { fault: "body", status: 404, body: "<h1>Maintenance</h1>", type: "text/html" } as const;
    setup.emulator.faults.add({ on: "compositions.lookup", nth: 1, ...page });
    const row = { ...partsOf(setup), imageReference: pair.imageReference };
    const rows = setup.connect().renders.batch([row, row], { download: false, concurrency: 1 });
    expect(tally(await collect(rows))).toEqual({ error: 1, ok: 1 });
    expect(setup.creations()).toEqual([1]);
  });

  it("with a combination that does not exist, or no longer, is an outcome with its reason and costs one look-up", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const [pair] = await setup.pairs(1);
    if (pair === undefined) throw new Error("There is no pair");
    const { imageReference } = pair;
    const missing = { ...partsOf(setup, "screenProtector"), imageReference };
    const gone = { ...partsOf(setup, "slimCase8"), imageReference };
    const outcomes = await run(setup, [missing, gone, missing, gone, pair]);
    expect(tally(outcomes)).toEqual({ "not-found": 2, gone: 2, ok: 1 });
    expect(setup.count("GET /lookup-composition")).toBe(2);
    expect(setup.creations()).toEqual([1]);
  });

  it.each<[string, object, string[]]>([
    ["no composition", { compositionReference: undefined }, ["compositionReference"]],
    ["no image", { imageReference: undefined }, ["imageReference"]],
    ["two images", { image: "design.png" }, ["image"]],
    ["a composition and a scene", { sceneReference: `Scene_${"0".repeat(26)}` }, ["sceneReference"]],
    [
      "a part of a combination",
      { compositionReference: undefined, sceneReference: `Scene_${"0".repeat(26)}` },
      ["productReference"],
    ],
    ["an unknown field", { imageReferense: 1 }, ["imageReferense"]],
  ])("with %s is an outcome with its issues, and sends nothing", async (_, change, path) => {
    const setup = setUpBatch();
    const [pair] = await setup.pairs(1);
    const [outcome] = await run(setup, [{ ...pair, ...change } as never]);
    expect(outcome).toMatchObject({ ok: false, reason: "error", error: { issues: [{ path: ["render", ...path] }] } });
    expect(setup.seen).toEqual([]);
  });

  it("is read no faster than it is worked on", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const pairs = await setup.pairs(3);
    let read = 0;
    function* endless() {
      for (;;) {
        read += 1;
        yield pairs[read % 3] as MockupInput;
      }
    }
    const loop = setup.partner.renders.batch(endless(), { concurrency: 4 })[Symbol.asyncIterator]();
    for (let n = 0; n < 10; n += 1) {
      const { value } = await loop.next();
      if (value?.ok) await value.value.media.cancel();
      await setup.clock.advance(0);
    }
    // Four in progress, and those whose pictures are open.
    expect(read).toBeLessThanOrEqual(10 + 2 * 4);
    await loop.return?.();
  });
});

describe("onProgress", () => {
  it("reports counts, tokens and requests, and an estimate of the rest", async () => {
    const setup = setUpBatch({ renderDuration: 10_000, rendertokenLimit: 5 });
    const pairs = await setup.pairs(7);
    const invalid = { ...pairs[0], sku: "A" } as never;
    const reports: unknown[] = [];
    const onProgress = (progress: object) => {
      reports.push(progress);
      throw new Error("The display is gone");
    };
    const rows = [invalid, ...pairs, ...pairs.slice(0, 1)];
    const outcomes = await setup.settle(collect(setup.partner.renders.batch(rows, { onProgress, download: false })));
    expect(tally(outcomes)).toEqual({ ok: 6, "weekly-limit": 2, error: 1 });
    expect(reports.at(-1)).toEqual({
      total: 9,
      done: 6,
      failed: 1,
      skipped: 2,
      pending: 0,
      tokensSpent: 5,
      requests: setup.seen.length,
      remainingMs: 0,
    });
    expect(reports).toContainEqual(expect.objectContaining({ done: 0, tokensSpent: 5, pending: 6 }));
  });

  it("estimates the rest from the rate of the latest hundred outcomes", async () => {
    const setup = setUpBatch();
    const estimates: (number | undefined)[] = [];
    const onProgress = ({ remainingMs }: { readonly remainingMs?: number | undefined }) => estimates.push(remainingMs);
    const rows = Array.from({ length: 220 }, () => ({ sku: "A" }) as never);
    for await (const _ of setup.partner.renders.batch(rows, { onProgress, download: false }))
      await setup.clock.advance(estimates.length > 110 ? 1_000 : 10);
    // 10 ms for two outcomes, and 218 are left.
    expect([estimates[1], estimates[218], estimates[219]]).toEqual([1_090, 1_000, 0]);
  });

  it("counts each attempt of an upload, also of one that fails", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    // Two attempts of the first upload, and eight of the second.
    setup.emulator.faults.add({ on: "images.upload", nth: (n) => n !== 2, fault: "status", status: 503 });
    const requests: number[] = [];
    const options = {
      onProgress: (progress: { requests: number }) => requests.push(progress.requests),
      download: false,
    } as const;
    const rows = [1, 2].map((n) => ({ ...partsOf(setup), image: sampleImage(`attempts ${n}`) }));
    const outcomes = collect(setup.partner.renders.batch(rows, { ...options, concurrency: 1 }));
    expect(tally(await setup.settle(outcomes))).toEqual({ ok: 1, error: 1 });
    expect([setup.count("POST /images"), requests.at(-1)]).toEqual([10, setup.seen.length]);
  });

  it("counts rows that `map` refuses", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const [pair] = await setup.pairs(1);
    const reports: unknown[] = [];
    const map = (row: typeof pair) => {
      if (row === undefined) throw new Error("There is no pair");
      return row;
    };
    const onProgress = ({ done, failed, pending }: { done: number; failed: number; pending: number }) =>
      reports.push([done, failed, pending]);
    await setup.settle(
      collect(setup.partner.renders.batch([undefined, pair, undefined], { map, onProgress, concurrency: 1 })),
    );
    // After the first outcome, the creation, and the two other outcomes.
    expect(reports).toEqual([
      [0, 1, 0],
      [0, 1, 1],
      [1, 1, 0],
      [1, 2, 0],
    ]);
  });

  it("has no total for rows without a known number", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const pairs = await setup.pairs(1);
    const totals: unknown[] = [];
    const onProgress = ({ total, remainingMs }: { total?: number | undefined; remainingMs?: number | undefined }) =>
      totals.push([total, remainingMs]);
    await setup.settle(collect(setup.partner.renders.batch(pairs.values(), { onProgress })));
    expect(totals.at(-1)).toEqual([undefined, undefined]);
  });
});
