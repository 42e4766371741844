import type { RenderInput } from "pod-partner";
import { describe, expect, it } from "vitest";
import { ref } from "../../../support/references.ts";
import { settle } from "../../../support/settle.ts";
import { looksOf, rowsOf, startService } from "./service.ts";
import { collect, setUpBatch, tally } from "./setup.ts";

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);

describe("pending renders", () => {
  it("of 90 s each take 3 requests each, at most 5, and do not wait for each other", async () => {
    const setup = setUpBatch({ renderDuration: 90_000 });
    const pairs = await setup.pairs(24);
    const began = setup.clock.now();
    expect(tally(await setup.settle(collect(setup.partner.renders.batch(pairs))))).toEqual({ ok: 24 });
    // The default of four at a time would take 24 / 4 * 90 s.
    expect(setup.clock.now() - began).toBeLessThan(150_000);
    const looks = looksOf(setup.seen);
    expect(looks).toHaveLength(24);
    expect(Math.max(...looks) + 1).toBeLessThanOrEqual(5);
    // Creation, status and picture, a few probes, one composition, the tokens.
    expect(setup.seen.length).toBeLessThanOrEqual(3 * 24 + 6);
  });

  it("without pictures take 2 requests each, at most 4", async () => {
    const setup = setUpBatch({ renderDuration: 90_000 });
    const pairs = await setup.pairs(16);
    const outcomes = await setup.settle(collect(setup.partner.renders.batch(pairs, { download: false })));
    expect(tally(outcomes)).toEqual({ ok: 16 });
    const looks = looksOf(setup.seen);
    expect(Math.max(...looks) + 1).toBeLessThanOrEqual(4);
    expect(sum(looks)).toBeLessThanOrEqual(16 + 3);
  });

  it("of one pair are waited for by each row until its own deadline", async () => {
    const { clock, partner, seen } = startService(
      () => 42_000,
      () => 5,
    );
    const [row] = rowsOf(1);
    async function* rows() {
      yield row as RenderInput;
      await new Promise<void>((resolve) => clock.after(25_000, resolve));
      yield row as RenderInput;
    }
    const outcomes = await settle(
      clock,
      collect(partner.renders.batch(rows(), { download: false, deadline: 40_000, interval: 5_000 })),
    );
    expect(tally(outcomes)).toEqual({ error: 1, ok: 1 });
    expect(seen.filter(({ line }) => line === "POST /renders")).toHaveLength(1);
  });

  it("that are alone are requested when Retry-After says", async () => {
    const setup = setUpBatch({ renderDuration: 3_000 });
    const pairs = await setup.pairs(1);
    const began = setup.clock.now();
    expect(tally(await setup.settle(collect(setup.partner.renders.batch(pairs))))).toEqual({ ok: 1 });
    expect(setup.clock.now() - began).toBeLessThanOrEqual(4_000);
    // The file before and after it is ready, the status, and the picture.
    expect(sum(looksOf(setup.seen))).toBeLessThanOrEqual(4);
  });

  it("are bounded by `maxPending`, and the rows are read no faster", async () => {
    const setup = setUpBatch({ renderDuration: 90_000 });
    const pairs = await setup.pairs(12);
    let read = 0;
    function* rows() {
      for (const pair of pairs) {
        read += 1;
        yield pair;
      }
    }
    const done = collect(setup.partner.renders.batch(rows(), { maxPending: 5, download: false }));
    await setup.created(5);
    await setup.clock.advance(30_000);
    expect([read, setup.creations().length]).toEqual([5, 5]);
    expect(tally(await setup.settle(done))).toEqual({ ok: 12 });
  });

  it("that are never completed end at the deadline", async () => {
    const setup = setUpBatch({ renderDuration: 1e9 });
    const pairs = await setup.pairs(5);
    const began = setup.clock.now();
    const outcomes = await setup.settle(collect(setup.partner.renders.batch(pairs)));
    expect(tally(outcomes)).toEqual({ error: 5 });
    for (const outcome of outcomes) if (!outcome.ok) expect(outcome.error).toMatchObject({ name: "WaitTimeoutError" });
    expect(setup.clock.now() - began).toBeLessThanOrEqual(601_000);
    expect(setup.clock.pending).toBe(0);
  });
});

describe("renders of 3 s", () => {
  it.each([100, 400])("take as long as one of them, and 3 requests each: %i rows", async (count) => {
    const { clock, partner, seen } = startService(
      () => 3_000,
      (left) => Math.ceil(left / 1_000),
    );
    const began = clock.now();
    const outcomes = await settle(clock, collect(partner.renders.batch(rowsOf(count))), 100);
    expect(tally(outcomes)).toEqual({ ok: count });
    expect(clock.now() - began).toBeLessThanOrEqual(3_300);
    // The composition, the week's tokens, and the file of the first one, before and after it is ready.
    expect(seen.length).toBeLessThanOrEqual(3 * count + 4);
  });

  it("whose timestamps are cut to seconds are read once", async () => {
    const { clock, partner, seen } = startService(
      () => 3_700,
      (left) => Math.ceil(left / 1_000),
    );
    const outcomes = await settle(clock, collect(partner.renders.batch(rowsOf(50), { download: false })), 100);
    expect(tally(outcomes)).toEqual({ ok: 50 });
    expect(looksOf(seen).filter((looks) => looks > 1).length).toBeLessThanOrEqual(1);
  });
});

describe("renders that take longer than those before them", () => {
  const seconds = (n: number) => n * 1_000;
  const retryAfter = (left: number) => Math.ceil(left / 1_000);

  // No status has a `Retry-After`.
  it.each([
    ["the first is faster", 50, (n: number) => (n === 1 ? seconds(1) : seconds(3)), 3],
    ["one is slower", 50, (n: number) => (n === 30 ? seconds(4) : seconds(3)), 4],
    ["a tenth is slower", 50, (n: number) => (n % 10 === 9 ? seconds(8) : seconds(3)), 8],
    ["they differ by milliseconds", 50, (n: number) => seconds(3) + n, 3.05],
    ["each is slower than the one before", 30, (n: number) => seconds(n / 2), 15],
  ] as const)("take at most half as long again: %s", async (_, count, duration, slowest) => {
    const { clock, partner, seen } = startService((n) => duration(n), retryAfter);
    const began = clock.now();
    const outcomes = await settle(clock, collect(partner.renders.batch(rowsOf(count))), 100);
    expect(tally(outcomes)).toEqual({ ok: count });
    expect(clock.now() - began).toBeLessThanOrEqual(seconds(slowest * 1.5 + 1));
    // The status, files at ages that grow by half, the status again, and the picture.
    expect(Math.max(...looksOf(seen).slice(1))).toBeLessThanOrEqual(
      3 + Math.ceil(Math.log(slowest) / Math.log(1.5)) + 1,
    );
  });

  it("are read again at once when the file is ready, not an interval after the status", async () => {
    const { clock, partner } = startService(
      () => 100_000,
      () => 1,
    );
    const began = clock.now();
    const outcomes = await settle(clock, collect(partner.renders.batch(rowsOf(1))), 100);
    expect(tally(outcomes)).toEqual({ ok: 1 });
    expect(clock.now() - began).toBeLessThanOrEqual(101_000);
  });
});

describe("a service that refuses the file of a pending render", () => {
  it.each([404, 409, 410])("with %i is asked for its status once a minute, and the batch goes on", async (status) => {
    const { clock, connect, fetch, seen } = startService(
      () => 150_000,
      () => 1,
    );
    const refusing = async (request: Request) => {
      const response = await fetch(request);
      return response.status === 202 ? Response.json({ code: "not_ready", message: "not yet" }, { status }) : response;
    };
    const partner = connect({ fetch: refusing });
    const began = clock.now();
    const outcomes = await settle(clock, collect(partner.renders.batch(rowsOf(3), { download: false })));
    expect(tally(outcomes)).toEqual({ ok: 3 });
    const reads = seen.filter(({ line }) => line === `GET /renders/${ref("Render", "1")}`).map(({ at }) => at - began);
    // In the first half minute a 404 can mean that the service does not show the render yet.
    const later = reads.filter((at) => at > 30_000);
    expect(later.length).toBeGreaterThan(1);
    expect(later.length).toBeLessThanOrEqual(3);
    expect(Math.max(...looksOf(seen))).toBeLessThanOrEqual(status === 404 ? 20 : 8);
  });
});

describe("500 renders that are completed at the same time", () => {
  it("take one look each, apart from the one that is probed, as soon as they are completed", async () => {
    const { clock, partner, seen } = startService(
      () => 90_000,
      (left) => Math.ceil(left / 1_000),
    );
    const began = clock.now();
    const outcomes = await settle(clock, collect(partner.renders.batch(rowsOf(500))), 100);
    expect(tally(outcomes)).toEqual({ ok: 500 });
    expect(clock.now() - began).toBeLessThanOrEqual(95_000);
    const looks = looksOf(seen);
    // A look and a picture.
    expect(looks.filter((requests) => requests > 2).length).toBeLessThanOrEqual(1);
    expect(Math.max(...looks) + 1).toBeLessThanOrEqual(5);
  });
});

describe("the status of a render", () => {
  it.each([70_000, 150_000, 400_000])(
    "that takes %i ms is read once in 60 s at most, unless its file is ready",
    async (longest) => {
      const { clock, partner, seen } = startService(
        (n) => longest - ((n * 7_919) % 60_000),
        () => 5,
      );
      const outcomes = await settle(clock, collect(partner.renders.batch(rowsOf(40), { download: false })));
      expect(tally(outcomes)).toEqual({ ok: 40 });
      const reads = new Map<string, number[]>();
      for (const { line, at } of seen)
        if (/^GET \/renders\/\w+$/.test(line)) reads.set(line, [...(reads.get(line) ?? []), at]);
      expect(reads.size).toBe(40);
      for (const [line, times] of reads) {
        const files = seen.filter((one) => one.line === `${line}/media`).map(({ at }) => at);
        // The last read follows the file at once.
        const polled = times.filter((time) => !files.includes(time));
        const pauses = polled.slice(1).map((time, n) => time - (polled[n] ?? 0));
        expect(Math.min(...pauses, 60_000)).toBe(60_000);
      }
    },
  );
});

describe("a service whose Retry-After is always 5 s", () => {
  it("gets few requests anyway, also when the times of the renders differ", async () => {
    const { clock, partner, seen } = startService(
      (n) => 30_000 + ((n * 7_919) % 90_000),
      () => 5,
    );
    const outcomes = await settle(clock, collect(partner.renders.batch(rowsOf(300), { download: false })));
    expect(tally(outcomes)).toEqual({ ok: 300 });
    const looks = looksOf(seen);
    // With the creation.
    expect(sum(looks) / 300 + 1).toBeLessThanOrEqual(3.5);
    // The one that is probed, before any is completed, takes a few more.
    expect(looks.filter((count) => count + 1 > 4).length).toBeLessThanOrEqual(3);
  });
});
