import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { memoryStorage, type RenderInput } from "pod-partner";
import { describe, expect, it } from "vitest";
import { ScopedStorage } from "../../../../src/storage/scoped-storage.ts";
import { settle } from "../../../support/settle.ts";
import { rowsOf, startService } from "./service.ts";
import { collect, type Death, setUpBatch, tally } from "./setup.ts";

type Setup = ReturnType<typeof setUpBatch>;

/** Creates the render of a pair, which fails. It is not in the storage. */
async function failed({ connect, emulator }: Setup, pair: RenderInput): Promise<void> {
  const elsewhere = connect({ fetch: emulator.fetch, storage: undefined });
  emulator.failRender((await elsewhere.renders.create(pair)).reference);
}

describe("a pair whose render is in the storage", () => {
  it("is not created again by a later run, and costs no look-up", async () => {
    const setup = setUpBatch({ renderDuration: 5_000 });
    const pairs = await setup.pairs(6);
    expect(tally(await setup.settle(collect(setup.partner.renders.batch(pairs))))).toEqual({ ok: 6 });
    const before = setup.seen.length;
    // Another process, later.
    expect(tally(await setup.settle(collect(setup.connect().renders.batch(pairs))))).toEqual({ ok: 6 });
    expect(setup.creations()).toEqual([1, 1, 1, 1, 1, 1]);
    expect(setup.seen.slice(before).map(({ line }) => line)).toEqual(
      Array(6).fill(expect.stringMatching(/^GET \/renders\/\w+\/media$/)),
    );
  });

  it("is waited for by a later run if it was still pending", async () => {
    const setup = setUpBatch({ renderDuration: 200_000 });
    const pairs = await setup.pairs(3);
    const first = collect(setup.partner.renders.batch(pairs, { deadline: 100_000 }));
    expect(tally(await setup.settle(first))).toEqual({ error: 3 });
    expect(tally(await setup.settle(collect(setup.connect().renders.batch(pairs))))).toEqual({ ok: 3 });
    expect(setup.creations()).toEqual([1, 1, 1]);
  });

  it("is created once by two clients with the same pairs at the same time", async () => {
    const setup = setUpBatch({ renderDuration: 30_000 });
    const pairs = await setup.pairs(16);
    const both = [setup.connect(), setup.connect()].map(({ renders }) => collect(renders.batch(pairs)));
    for (const outcomes of await setup.settle(Promise.all(both))) expect(tally(outcomes)).toEqual({ ok: 16 });
    expect(setup.creations()).toEqual(Array(16).fill(1));
    expect(await setup.used()).toBe(16);
  });

  it("is created once within a batch whose storage forgets it", async () => {
    const setup = setUpBatch({ renderDuration: 5_000 });
    const storage = { ...memoryStorage(), get: async () => undefined };
    const partner = setup.connect({ storage });
    const pairs = await setup.pairs(3);
    expect(tally(await setup.settle(collect(partner.renders.batch([...pairs, ...pairs]))))).toEqual({ ok: 6 });
    expect(setup.creations()).toEqual([1, 1, 1]);
  });

  it.each([
    ["another version of the SDK", { version: 2, reference: "Render_x" }],
    ["a faulty writer", { version: 1, reference: "Order_1" }],
  ])("counts as absent if it was written by %s", async (_, value) => {
    const setup = setUpBatch({ renderDuration: 0 });
    const [pair] = await setup.pairs(1);
    if (pair === undefined) throw new Error("There is no pair");
    const key = `render:${pair.compositionReference}:${pair.imageReference}`;
    const scoped = new ScopedStorage(setup.storage, await setup.partner["~scopeOf"](setup.storage));
    await scoped.set(key, new TextEncoder().encode(JSON.stringify(value)));
    expect(tally(await setup.settle(collect(setup.partner.renders.batch([pair]))))).toEqual({ ok: 1 });
    expect(setup.creations()).toEqual([1]);
  });
});

describe("a render that does not match the specification", () => {
  it('is not created again by a later run with `responses: "report"`', async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const pairs = await setup.pairs(2);
    const fetch: typeof globalThis.fetch = async (request, init) => {
      const response = await setup.emulator.fetch(request, init);
      if (!(request instanceof Request) || !/GET .*\/renders\/\w+$/.test(`${request.method} ${request.url}`))
        return response;
      const { render } = (await response.json()) as { render: object };
      return Response.json({ render: { ...render, media: "image/png" } }, { headers: response.headers });
    };
    const run = () => collect(setup.connect({ fetch, responses: "report" }).renders.batch(pairs, { download: false }));
    expect(tally(await setup.settle(run()))).toEqual({ ok: 2 });
    expect(tally(await setup.settle(run()))).toEqual({ ok: 2 });
    expect(await setup.used()).toBe(2);
  });
});

describe("a render that failed", () => {
  it("is an outcome with its reason, and is created again by a later run only with `retryFailed`", async () => {
    const setup = setUpBatch({ renderDuration: 60_000 });
    const pairs = await setup.pairs(2);
    const [pair] = pairs;
    if (pair === undefined) throw new Error("There is no pair");
    await failed(setup, pair);
    const run = async (options?: { retryFailed: boolean }) =>
      tally(await setup.settle(collect(setup.connect().renders.batch([...pairs, pair], options ?? {}))));
    expect(await run()).toEqual({ ok: 1, "render-failed": 2 });
    expect(await run()).toEqual({ ok: 1, "render-failed": 2 });
    expect(setup.creations()).toEqual([1, 1]);
    // The emulator returns the failed render again.
    expect(await run({ retryFailed: true })).toEqual({ ok: 1, "render-failed": 2 });
    expect(setup.creations().sort()).toEqual([1, 2]);
  });
});

describe("a render that failed, of a service that has no files of it", () => {
  it.each([404, 410, 500])("is an outcome with its reason when its file gives %i", async (status) => {
    const setup = setUpBatch({ renderDuration: 60_000 });
    const pairs = await setup.pairs(1);
    let files = 0;
    const fetch = async (request: Request, init?: RequestInit) => {
      if (!request.url.endsWith("/media")) return setup.emulator.fetch(request, init);
      files += 1;
      return Response.json({ code: "no_file", message: "There is no file" }, { status });
    };
    for (const pair of pairs) await failed(setup, pair);
    const { renders } = setup.connect({ fetch, retry: false });
    const began = setup.clock.now();
    expect(tally(await collect(renders.batch(pairs)))).toEqual({ "render-failed": 1 });
    // Its status is read at once.
    expect([files, setup.clock.now() - began]).toEqual([1, 0]);
  });
});

describe("`retryFailed`", () => {
  const statusOrFile = /^GET \/renders\//;

  it("asks for no status when the service returns the render that failed, and later runs still know it", async () => {
    const setup = setUpBatch({ renderDuration: 60_000 });
    const pairs = await setup.pairs(1);
    const run = async (options?: { retryFailed: boolean }) =>
      tally(await setup.settle(collect(setup.connect().renders.batch(pairs, options ?? {}))));
    const [pair] = pairs;
    if (pair === undefined) throw new Error("There is no pair");
    await failed(setup, pair);
    expect(await run()).toEqual({ "render-failed": 1 });
    const looks = setup.count(statusOrFile);
    expect(await run({ retryFailed: true })).toEqual({ "render-failed": 1 });
    expect(setup.creations()).toEqual([2]);
    expect(await run()).toEqual({ "render-failed": 1 });
    expect([setup.creations(), setup.count(statusOrFile)]).toEqual([[2], looks]);
  });

  it("waits for the new render of a service that makes one", async () => {
    const { clock, partner, seen, fail } = startService(
      () => 5_000,
      () => 5,
    );
    const run = async (options: { retryFailed?: boolean } = {}) =>
      tally(await settle(clock, collect(partner.renders.batch(rowsOf(1), { download: false, ...options }))));
    fail(1);
    expect(await run()).toEqual({ "render-failed": 1 });
    expect(await run({ retryFailed: true })).toEqual({ ok: 1 });
    expect(await run({ retryFailed: true })).toEqual({ ok: 1 });
    expect(seen.filter(({ line }) => line === "POST /renders")).toHaveLength(2);
  });

  it("does not create a render again that another process created, and that failed, during the run", async () => {
    const setup = setUpBatch({ renderDuration: 60_000 });
    const [first, pair] = await setup.pairs(2);
    if (first === undefined || pair === undefined) throw new Error("There is no pair");
    async function* rows() {
      yield first as RenderInput;
      // Meanwhile, with the same storage.
      await failed(setup, pair as RenderInput);
      expect(tally(await collect(setup.connect().renders.batch([pair as RenderInput])))).toEqual({
        "render-failed": 1,
      });
      yield pair as RenderInput;
    }
    const outcomes = await setup.settle(collect(setup.partner.renders.batch(rows(), { retryFailed: true })));
    expect(tally(outcomes)).toEqual({ ok: 1, "render-failed": 1 });
    expect(setup.creations()).toEqual([1, 1]);
  });

  it("creates no render again while the storage refuses changes: the next run would pay for it once more", async () => {
    const setup = setUpBatch({ renderDuration: 60_000 });
    const [pair] = await setup.pairs(1);
    if (pair === undefined) throw new Error("There is no pair");
    const storage = memoryStorage();
    await failed(setup, pair);
    const first = setup.connect({ storage }).renders.batch([pair]);
    expect(tally(await setup.settle(collect(first)))).toEqual({ "render-failed": 1 });
    const full = { ...storage, set: () => Promise.reject(new Error("full")) };
    const partner = setup.connect({ storage: full, hooks: { onStorageLost: () => undefined } });
    const rows = Array(4).fill(pair);
    const second = partner.renders.batch(rows, { retryFailed: true, concurrency: 1, maxPending: 1 });
    expect(tally(await setup.settle(collect(second)))).toEqual({ error: 4 });
    expect(setup.creations()).toEqual([1]);
  });

  it("keeps the failed render when its creation is refused, so that a run without it sends nothing", async () => {
    const setup = setUpBatch({ renderDuration: 60_000 });
    const pairs = await setup.pairs(1);
    const [pair] = pairs;
    if (pair === undefined) throw new Error("There is no pair");
    const run = async (options?: { retryFailed: boolean }) =>
      tally(await setup.settle(collect(setup.connect().renders.batch(pairs, options ?? {}))));
    await failed(setup, pair);
    expect(await run()).toEqual({ "render-failed": 1 });
    setup.emulator.faults.add({ on: "renders.create", fault: "status", status: 409, code: "busy" });
    expect(await run({ retryFailed: true })).toEqual({ error: 1 });
    const before = setup.seen.length;
    expect(await run()).toEqual({ "render-failed": 1 });
    expect(setup.seen.length).toBe(before);
  });
});

describe("`retryFailed` in a process that dies", () => {
  it("keeps the failed render, so that a run without it sends nothing", async () => {
    const setup = setUpBatch({ renderDuration: 60_000 });
    const [pair] = await setup.pairs(1);
    if (pair === undefined) throw new Error("There is no pair");
    await failed(setup, pair);
    const run = async () => tally(await setup.settle(collect(setup.connect().renders.batch([pair]))));
    expect(await run()).toEqual({ "render-failed": 1 });
    const creations = setup.creations();
    // The first request reads the week's tokens, the second one is the creation.
    const { state, partner } = setup.mortal({ request: 2, received: false });
    void collect(partner.renders.batch([pair], { retryFailed: true }));
    while (!state.dead) await setImmediate();
    const before = setup.seen.length;
    expect(await run()).toEqual({ "render-failed": 1 });
    expect([setup.seen.length, setup.creations()]).toEqual([before, creations]);
  });
});

describe("a process that dies", () => {
  const death = fc.record({ request: fc.integer({ min: 1, max: 24 }), received: fc.boolean() });

  /** Runs the batch until the process dies, or until the end. Returns the creations whose responses were lost. */
  async function runUntilDeath(setup: Setup, pairs: readonly RenderInput[], at: Death): Promise<number> {
    const { state, lost, partner } = setup.mortal(at);
    void collect(partner.renders.batch(pairs)).then(() => {
      state.dead = true;
    });
    // Opening a storage takes time of the machine.
    while (!state.opened) await setImmediate();
    for (let step = 0; step < 1_000 && !state.dead; step += 1) await setup.clock.advance(1_000);
    expect(state.dead).toBe(true);
    return lost();
  }

  it("blocks its pair until its lock ends, which the next run reports", async () => {
    const setup = setUpBatch({ renderDuration: 20_000 });
    const pairs = await setup.pairs(1);
    // The first request reads the week's tokens, the second one is the creation.
    await runUntilDeath(setup, pairs, { request: 2, received: false });
    const pauses: unknown[] = [];
    const partner = setup.connect({ hooks: { onPause: (pause) => void pauses.push(pause) } });
    const began = setup.clock.now();
    expect(tally(await setup.settle(collect(partner.renders.batch(pairs, { download: false }))))).toEqual({ ok: 1 });
    expect(pauses).toMatchObject([
      { endpoint: "POST /renders", reason: "other-process", policy: "default", length: 0 },
    ]);
    expect(setup.clock.now() - began).toBeGreaterThan(20_000);
    expect(setup.clock.now() - began).toBeLessThan(60_000);
  });

  it("costs no more than the tokens of the creations whose responses it did not receive, at any request", async () => {
    const property = fc.asyncProperty(fc.array(death, { minLength: 1, maxLength: 3 }), async (deaths) => {
      const setup = setUpBatch({ renderDuration: 20_000 });
      const pairs = await setup.pairs(6);
      let lost = 0;
      for (const at of deaths) lost += await runUntilDeath(setup, pairs, at);
      expect(tally(await setup.settle(collect(setup.connect().renders.batch(pairs))))).toEqual({ ok: 6 });
      const creations = setup.creations();
      expect(creations).toHaveLength(6);
      expect(creations.reduce((sum, count) => sum + count)).toBe(6 + lost);
      expect(await setup.used()).toBe(6 + lost);
    });
    await fc.assert(property, { numRuns: 10 });
  });
});
