import { getEventListeners } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RenderReference } from "pod-partner";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rejection } from "../../../support/exchange.ts";
import { ref } from "../../../support/references.ts";
import { settle } from "../../../support/settle.ts";
import { rowsOf, startService } from "./service.ts";
import { collect, setUpBatch, tally } from "./setup.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "pod-partner-failures-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe("a probed render that fails", () => {
  it.each([[[1]], [[1, 2, 3]]])("lets the next pending one be probed at once: %j", async (failing) => {
    const { clock, partner, fail } = startService(
      () => 5_000,
      () => 5,
    );
    for (const n of failing) fail(n);
    const began = clock.now();
    const outcomes = await settle(clock, collect(partner.renders.batch(rowsOf(6), { download: false })), 100);
    expect(tally(outcomes)).toEqual({ ok: 6 - failing.length, "render-failed": failing.length });
    const failed = outcomes.flatMap((outcome) => (outcome.ok ? [] : outcome.error));
    const references = failing.map((n) => expect.objectContaining({ reference: ref("Render", String(n)) }));
    expect(failed).toEqual(expect.arrayContaining(references));
    expect(clock.now() - began).toBeLessThan(15_000);
  });
});

describe("a new render that cannot be read yet", () => {
  it.each([7_000, 25_000])("is looked up again: after %d ms it can be read", async (unreadable) => {
    const { clock, partner } = startService(
      () => 5_000,
      () => 5,
      unreadable,
    );
    const outcomes = await settle(clock, collect(partner.renders.batch(rowsOf(6))), 100);
    expect(tally(outcomes)).toEqual({ ok: 6 });
  });

  it.each([
    [2_000, 1_500],
    [20_000, 19_000],
  ])("ends its wait at a deadline of %d ms, as any pending render, with a last look before", async (deadline, last) => {
    const { clock, partner, seen } = startService(
      () => 5_000,
      () => 5,
      3_600_000,
    );
    const began = clock.now();
    const outcomes = await settle(clock, collect(partner.renders.batch(rowsOf(1), { deadline })), 100);
    const latest = (seen.at(-1)?.at ?? 0) - began;
    expect(latest).toBeGreaterThanOrEqual(last);
    expect(latest).toBeLessThan(deadline);
    const error = {
      name: "WaitTimeoutError",
      endpoint: "GET /renders/{renderReference}/media",
      cause: { status: 404 },
    };
    expect(outcomes).toMatchObject([{ ok: false, reason: "error", error }]);
  });

  it("is an error when it can still not be read after 30 seconds", async () => {
    const { clock, partner, seen } = startService(
      () => 5_000,
      () => 5,
      3_600_000,
    );
    const began = clock.now();
    const outcomes = await settle(clock, collect(partner.renders.batch(rowsOf(1))), 100);
    expect(outcomes).toMatchObject([{ ok: false, reason: "error", error: { name: "NotFoundError" } }]);
    expect(clock.now() - began).toBeGreaterThanOrEqual(30_000);
    expect(clock.now() - began).toBeLessThan(60_000);
    expect(seen.length).toBeLessThan(20);
  });
});

describe("a file that the service refuses for the key", () => {
  it.each([401, 403])("with %i is the outcome of its row, without a look at its status", async (status) => {
    const setup = setUpBatch({ renderDuration: 0 });
    const lines: string[] = [];
    const fetch = async (request: Request, init?: RequestInit) => {
      lines.push(`${request.method} ${new URL(request.url).pathname}`);
      return request.url.endsWith("/media")
        ? Response.json({ code: "no", message: "no" }, { status })
        : setup.emulator.fetch(request, init);
    };
    const outcomes = await collect(setup.connect({ fetch }).renders.batch(await setup.pairs(1)));
    expect(outcomes).toMatchObject([{ ok: false, reason: "error", error: { status } }]);
    expect(lines.filter((line) => /renders\/\w+$/.test(line))).toEqual([]);
  });
});

describe('a completed render that lacks its references, with `responses: "report"`', () => {
  /** A client whose service says of a render only how it is. */
  async function laconic() {
    const setup = setUpBatch({ renderDuration: 0 });
    const fetch: typeof globalThis.fetch = async (request, init) => {
      const response = await setup.emulator.fetch(request, init);
      if (!(request instanceof Request) || !/GET .*\/renders\/\w+$/.test(`${request.method} ${request.url}`))
        return response;
      return Response.json({ render: { status: "completed" } }, { headers: response.headers });
    };
    return { setup, pairs: await setup.pairs(2), partner: setup.connect({ fetch, responses: "report" }) };
  }

  it("has its picture", async () => {
    const { pairs, partner } = await laconic();
    for await (const outcome of partner.renders.batch(pairs)) {
      if (!outcome.ok) throw outcome.error;
      expect((await outcome.value.media.bytes()).length).toBeGreaterThan(100);
    }
  });

  it("is saved under the names of its pair", async () => {
    const { pairs, partner } = await laconic();
    expect(tally(await collect(partner.renders.batch(pairs, { download: directory })))).toEqual({ ok: 2 });
    const names = pairs.map((pair) => `${pair.compositionReference}-${pair.imageReference}`);
    expect((await readdir(directory)).sort()).toEqual(names.sort());
  });
});

describe("a status that is that of another render", () => {
  /** A client whose service, or a cache before it, shows one render whatever is asked for. */
  function mixedUp() {
    const setup = setUpBatch({ renderDuration: 0 });
    let shown: Response | undefined;
    const fetch: typeof globalThis.fetch = async (request, init) => {
      const response = await setup.emulator.fetch(request, init);
      const isStatus = request instanceof Request && /GET .*\/renders\/\w+$/.test(`${request.method} ${request.url}`);
      if (!isStatus) return response;
      shown ??= response;
      return shown.clone();
    };
    return { ...setup, partner: setup.connect({ fetch }) };
  }
  const issues = [{ path: ["render", "reference"], message: expect.stringContaining("is not the render") }];

  it("is an error of its row, and is not remembered", async () => {
    const { pairs, partner, connect } = mixedUp();
    const rows = await pairs(2);
    expect(tally(await collect(partner.renders.batch(rows)))).toEqual({ ok: 1, error: 1 });
    expect(tally(await collect(connect().renders.batch(rows)))).toEqual({ ok: 2 });
  });

  it("ends `renders.wait`", async () => {
    const { clock, pairs, partner } = mixedUp();
    const references = [];
    for (const pair of await pairs(2)) references.push((await settle(clock, partner.renders.create(pair))).reference);
    const [one, other] = references as [RenderReference, RenderReference];
    expect(await settle(clock, partner.renders.wait(one))).toMatchObject({ reference: one });
    expect(await settle(clock, rejection(partner.renders.wait(other)))).toMatchObject({
      name: "ResponseValidationError",
      issues,
    });
  });
});

describe("the signal of a batch", () => {
  it("has few listeners, however many rows are in progress", async () => {
    const setup = setUpBatch({ renderDuration: 60_000 });
    const { signal } = new AbortController();
    const listeners: number[] = [];
    const fetch: typeof globalThis.fetch = async (request, init) => {
      listeners.push(getEventListeners(signal, "abort").length);
      await new Promise<void>((resolve) => setup.clock.after(1_000, resolve));
      return setup.emulator.fetch(request, init);
    };
    const options = { signal, concurrency: 20, download: false } as const;
    const outcomes = collect(setup.connect({ fetch }).renders.batch(await setup.pairs(40), options));
    expect(tally(await settle(setup.clock, outcomes))).toEqual({ ok: 40 });
    // Node 22 warns of eleven.
    expect(Math.max(...listeners)).toBeLessThanOrEqual(3);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("still ends a picture that was handed over, also after the loop was left", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const controller = new AbortController();
    const { signal } = controller;
    for await (const outcome of setup.partner.renders.batch(await setup.pairs(1), { signal })) {
      if (!outcome.ok) throw outcome.error;
      controller.abort(new Error("the shop has closed"));
      await expect(outcome.value.media.bytes()).rejects.toThrow("the shop has closed");
      break;
    }
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

describe("the error of a row", () => {
  it("names the row, and then the line of the caller, without lines of the SDK between them", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const pairs = await setup.pairs(3);
    setup.emulator.faults.add({ on: "renders.create", nth: 2, fault: "status", status: 409, code: "busy" });
    const outcomes = await collect(setup.partner.renders.batch(pairs, { concurrency: 1, download: false }));
    expect(tally(outcomes)).toEqual({ ok: 2, error: 1 });
    for (const outcome of outcomes) {
      if (outcome.ok || !(outcome.error instanceof Error)) continue;
      const frames = String(outcome.error.stack)
        .split("\n")
        .filter((line) => /^\s+at /.test(line));
      expect(frames[0]).toBe("    at rows[1]");
      expect(frames[1]).toContain("failures.test.ts");
    }
  });

  it("that rows of the same pair share names each of them", async () => {
    const setup = setUpBatch({ renderDuration: 0 });
    const [pair] = await setup.pairs(1);
    if (pair === undefined) throw new Error("There is no pair");
    setup.emulator.faults.add({ on: "renders.create", fault: "status", status: 409, code: "busy" });
    const outcomes = await collect(setup.partner.renders.batch([pair, { ...pair }], { download: false }));
    for (const outcome of outcomes) {
      if (outcome.ok || !(outcome.error instanceof Error)) throw new Error("The creation did not fail");
      expect(outcome.error.stack).toMatch(/ {4}at rows\[0\]\n {4}at rows\[1\]\n.*failures\.test\.ts/);
    }
  });
});
