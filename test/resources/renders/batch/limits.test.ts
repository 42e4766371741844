import { sampleImage } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { fetchFailed } from "../../../support/fetch-failed.ts";
import { collect, setUpBatch, tally } from "./setup.ts";

/** The first Monday 00:00 Europe/Amsterdam after the start of the manual clock (2026-11-02T09:00Z). */
const reset = "2026-11-08T23:00:00.000Z";

describe("tokenBudget", () => {
  it.each([
    [5, 5],
    [6, 6],
    [0, 0],
  ])("of %i tokens creates %i renders of one token, and nothing else", async (tokenBudget, count) => {
    const setup = setUpBatch({ renderDuration: 5_000 });
    const pairs = await setup.pairs(9);
    const outcomes = await setup.settle(collect(setup.partner.renders.batch(pairs, { tokenBudget })));
    expect(tally(outcomes)).toEqual({ ...(count > 0 && { ok: count }), budget: 9 - count });
    expect(setup.creations()).toEqual(Array(count).fill(1));
    for (const outcome of outcomes) {
      if (outcome.ok || outcome.reason !== "budget") continue;
      expect(outcome.resetsAt).toEqual(reset);
      expect(outcome.error).toMatchObject({ name: "TokenBudgetError" });
    }
  });

  it("is not used up by creations that were never sent", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const pairs = await setup.pairs(4);
    let down = true;
    const fetch: typeof globalThis.fetch = async (request, init) => {
      if (down && request instanceof Request && request.method === "POST") throw fetchFailed("ECONNREFUSED", "connect");
      return setup.emulator.fetch(request, init);
    };
    const spent: number[] = [];
    const options = {
      tokenBudget: 4,
      concurrency: 1,
      onProgress: ({ tokensSpent }: { readonly tokensSpent: number }) => void spent.push(tokensSpent),
    };
    const { renders } = setup.connect({ fetch });
    const outcomes: unknown[] = [];
    await setup.settle(
      (async () => {
        for await (const { ok, reason } of renders.batch(pairs, options) as AsyncIterable<{
          ok: boolean;
          reason?: string;
        }>) {
          outcomes.push(ok || reason);
          down = outcomes.length < 2;
        }
      })(),
    );
    expect(outcomes).toEqual(["error", "error", true, true]);
    expect(spent.at(-1)).toBe(2);
  });

  it("does not leave out what the storage has, and goes on in the next run", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const pairs = await setup.pairs(5, "desk");
    const run = async () =>
      tally(await setup.settle(collect(setup.connect().renders.batch(pairs, { tokenBudget: 5 }))));
    // A render costs 2.
    expect(await run()).toEqual({ ok: 2, budget: 3 });
    expect(await run()).toEqual({ ok: 4, budget: 1 });
    expect(await run()).toEqual({ ok: 5 });
    expect(setup.creations()).toEqual([1, 1, 1, 1, 1]);
    expect(await setup.used()).toBe(10);
  });

  it("does not leave out rows whose images are known and whose renders the storage has, in any order", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const row = (name: string) => ({
      compositionReference: setup.demo.compositions.desk,
      image: sampleImage(name),
    });
    const run = async (names: readonly string[], tokenBudget: number) => {
      const spent: unknown[] = [];
      const options = { tokenBudget, download: false, concurrency: 1 } as const;
      const onProgress = ({ tokensSpent }: { tokensSpent: number }) => spent.push(tokensSpent);
      const renders = setup.connect().renders;
      const outcomes = await collect(renders.batch(names.map(row), { ...options, onProgress }));
      for (const outcome of outcomes) {
        if (!outcome.ok) expect(outcome.error).toMatchObject({ name: "TokenBudgetError", endpoint: "POST /renders" });
      }
      return [outcomes.map((outcome) => (outcome.ok ? "ok" : outcome.reason)), spent.at(-1)];
    };
    expect(await run(["a", "b"], 4)).toEqual([["ok", "ok"], 4]);
    // A render costs 2. The image of "d" is not uploaded.
    expect(await run(["c", "a", "d", "b", "c"], 3)).toEqual([["ok", "ok", "budget", "ok", "ok"], 2]);
    expect(await run(["b", "d", "a"], 0)).toEqual([["ok", "budget", "ok"], 0]);
    expect([setup.count("POST /images"), setup.creations()]).toEqual([3, [1, 1, 1]]);
  });

  it("does not leave out a row whose tokens are reserved for the retries of another one", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const row = (name: string) => ({ compositionReference: setup.demo.compositions.desk, image: sampleImage(name) });
    const uploaded = Promise.withResolvers<void>();
    let isCreating = false;
    const fetch = async (request: Request, init?: RequestInit) => {
      const response = await setup.emulator.fetch(request, init);
      if (request.method !== "POST") return response;
      if (request.url.endsWith("/renders")) {
        isCreating = true;
        await uploaded.promise;
      } else if (isCreating) uploaded.resolve();
      return response;
    };
    async function* rows() {
      yield row("a");
      while (!isCreating) await new Promise(setImmediate);
      yield row("b");
    }
    const outcomes = [];
    // A render costs 2, and one retry of the first is reserved.
    for await (const outcome of setup.connect({ fetch }).renders.batch(rows(), { tokenBudget: 4, download: false })) {
      outcomes.push(outcome);
      uploaded.resolve();
    }
    expect(tally(outcomes)).toEqual({ ok: 2 });
  });

  it.each([{ fault: "drop" }, { fault: "status", status: 408, when: "after" }] as const)(
    "is not exceeded by creations that are sent again because their responses were lost: %j",
    async (fault) => {
      const setup = setUpBatch({ renderDuration: 0 });
      const pairs = await setup.pairs(8);
      setup.emulator.faults.add({ on: "renders.create", nth: (n) => n % 2 === 1, ...fault });
      await setup.settle(collect(setup.partner.renders.batch(pairs, { tokenBudget: 7 })));
      expect(await setup.used()).toBeLessThanOrEqual(7);
      expect(await setup.used()).toBeGreaterThan(4);
    },
  );

  it.each([
    ["a creation", /renders$/, 2],
    ["an upload", /images$/, 0],
  ])("counts the tokens and the requests of %s that an abort ends", async (_, path, tokensSpent) => {
    const setup = setUpBatch({ renderDuration: 0 });
    const stop = new AbortController();
    const sent: string[] = [];
    const fetch = async (request: Request, init?: RequestInit) => {
      sent.push(request.url);
      const response = await setup.emulator.fetch(request, init);
      if (request.method === "POST" && path.test(request.url)) stop.abort(new Error("stopped"));
      return response;
    };
    const progress: { tokensSpent: number; requests: number }[] = [];
    const onProgress = (one: (typeof progress)[number]) => progress.push(one);
    const rows = [{ compositionReference: setup.demo.compositions.desk, image: sampleImage("a") }];
    const { renders } = setup.connect({ fetch });
    const batch = collect(renders.batch(rows, { tokenBudget: 5, signal: stop.signal, onProgress }));
    await expect(setup.settle(batch)).rejects.toThrow("stopped");
    // A render costs 2.
    expect(await setup.used()).toBe(tokensSpent);
    expect(progress.at(-1)).toMatchObject({ tokensSpent, requests: sent.length });
  });
});

describe("the weekly limit", () => {
  it("ends the creations before the service refuses one, and the next week goes on", async () => {
    const setup = setUpBatch({ renderDuration: 5_000, rendertokenLimit: 6 });
    const pairs = await setup.pairs(10);
    const outcomes = await setup.settle(collect(setup.partner.renders.batch(pairs)));
    expect(tally(outcomes)).toEqual({ ok: 6, "weekly-limit": 4 });
    const limited = outcomes.flatMap((outcome) => (!outcome.ok && outcome.reason === "weekly-limit" ? outcome : []));
    expect(limited.map(({ resetsAt }) => resetsAt)).toEqual(Array(4).fill(reset));
    expect(limited[0]?.error).toMatchObject({ name: "RendertokenLimitError", resetsAt: reset });
    expect(setup.creations()).toEqual(Array(6).fill(1));
    await setup.clock.set(reset);
    expect(tally(await setup.settle(collect(setup.connect().renders.batch(pairs))))).toEqual({ ok: 10 });
    expect(setup.creations()).toEqual(Array(10).fill(1));
  });

  it("ends the uploads for renders that it does not cover", async () => {
    const setup = setUpBatch({ renderDuration: 0, rendertokenLimit: 2 });
    const compositionReference = setup.demo.compositions.desk;
    const rows = ["a", "b", "c", "d"].map((name) => ({ compositionReference, image: sampleImage(name) }));
    const outcomes = await collect(setup.partner.renders.batch(rows, { concurrency: 1, download: false }));
    expect(tally(outcomes)).toEqual({ ok: 1, "weekly-limit": 3 });
    // That of "b" was uploaded before the limit was read.
    expect(setup.count("POST /images")).toBe(2);
  });

  it("is read again when the batch reaches the next week", async () => {
    const setup = setUpBatch({ renderDuration: 0, rendertokenLimit: 3 });
    const pairs = await setup.pairs(5);
    async function* slowly() {
      yield* pairs.slice(0, 4);
      await setup.clock.set(reset);
      yield* pairs.slice(4);
    }
    expect(tally(await collect(setup.partner.renders.batch(slowly())))).toEqual({ ok: 4, "weekly-limit": 1 });
  });

  it("is read again when creations without a response may not have deducted tokens", async () => {
    const setup = setUpBatch({ renderDuration: 0, rendertokenLimit: 3 });
    const pairs = await setup.pairs(4);
    let lost = 0;
    const fetch: typeof globalThis.fetch = async (request, init) => {
      setup.seen.push({ line: "", at: setup.clock.now() });
      const isCreation = request instanceof Request && request.method === "POST" && request.url.endsWith("/renders");
      if (!isCreation || lost > 0) return setup.emulator.fetch(request, init);
      lost += 1;
      throw new TypeError("fetch failed");
    };
    const outcomes = setup.connect({ fetch }).renders.batch(pairs, { concurrency: 1, download: false });
    expect(tally(await setup.settle(collect(outcomes)))).toEqual({ ok: 3, "weekly-limit": 1 });
  });

  it("that other clients reach first ends the creations after the first refusals", async () => {
    const setup = setUpBatch({ renderDuration: 0, rendertokenLimit: 10 });
    const pairs = await setup.pairs(12);
    const [other, ...own] = await setup.pairs(31);
    if (other === undefined) throw new Error("There is no pair");
    // Another client without a storage uses 7 tokens after the batch has read the limit.
    const elsewhere = setup.connect({ fetch: setup.emulator.fetch, storage: undefined });
    async function* rows() {
      yield* pairs.slice(0, 1);
      for (let n = 0; n < 7; n += 1) await elsewhere.renders.create(other as never);
      yield* [...pairs.slice(1), ...own];
    }
    const outcomes = await setup.settle(collect(setup.partner.renders.batch(rows(), { concurrency: 2 })));
    expect(tally(outcomes)).toEqual({ ok: 3, "weekly-limit": 39 });
    // At most those of two rows were refused.
    expect(setup.count("POST /renders")).toBeLessThanOrEqual(5);
  });

  it("that a refusal shows is not forgotten when another creation deducts nothing", async () => {
    const setup = setUpBatch({ renderDuration: 0, rendertokenLimit: 2 });
    const pairs = await setup.pairs(3);
    const refused = Promise.withResolvers<void>();
    let creations = 0;
    const fetch: typeof globalThis.fetch = async (request, init) => {
      setup.seen.push({ line: "", at: setup.clock.now() });
      const isCreation = request instanceof Request && request.method === "POST" && request.url.endsWith("/renders");
      if (!isCreation) return setup.emulator.fetch(request, init);
      creations += 1;
      if (creations === 2) {
        await refused.promise;
        return Response.json({ code: "image_not_found", message: "There is no image" }, { status: 404 });
      }
      // Another client has used the tokens.
      const headers = { "retry-after": "3600" };
      return Response.json({ code: "rendertoken_limit_exceeded", message: "None left" }, { status: 429, headers });
    };
    const outcomes = [];
    for await (const outcome of setup.connect({ fetch }).renders.batch(pairs, { concurrency: 2, download: false })) {
      outcomes.push(outcome);
      refused.resolve();
    }
    expect(tally(outcomes)).toEqual({ "weekly-limit": 2, error: 1 });
    expect(creations).toBe(2);
  });

  it("is left to the service if it cannot be read", async () => {
    const setup = setUpBatch({ renderDuration: 0, rendertokenLimit: 3 });
    const pairs = await setup.pairs(8);
    setup.emulator.faults.add({ on: "rendertokens.get", fault: "status", status: 403, code: "forbidden" });
    const outcomes = await setup.settle(collect(setup.partner.renders.batch(pairs, { concurrency: 1 })));
    expect(tally(outcomes)).toEqual({ ok: 3, "weekly-limit": 5 });
    expect(setup.count("POST /renders")).toBeLessThanOrEqual(5);
  });
});
