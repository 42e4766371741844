import { describe, expect, it } from "vitest";
import { settle } from "../../support/settle.ts";
import { looksOf, rowsOf, startService } from "./service.ts";
import { collect, type Seen, tally } from "./setup.ts";

const renderTime = 90_000;

/** The maximum number of requests for renders in a second, without the creations. */
function peakOf(seen: readonly Seen[]): number {
  const counts = new Map<number, number>();
  for (const { line, at } of seen) {
    const second = Math.floor(at / 1_000);
    if (line.startsWith("GET /renders/")) counts.set(second, 1 + (counts.get(second) ?? 0));
  }
  return Math.max(...counts.values());
}

async function make(count: number) {
  const { clock, partner, seen } = startService(
    () => renderTime,
    (left) => Math.ceil(left / 1_000),
  );
  const began = clock.now();
  const outcomes = await settle(clock, collect(partner.renders.batch(rowsOf(count))), 100);
  expect(tally(outcomes)).toEqual({ ok: count });
  return { seen, took: clock.now() - began };
}

describe("renders that are completed at the same time", () => {
  it("are looked up at the rate that the service sustains, with as many requests", async () => {
    const { seen, took } = await make(500);
    // 50 status requests a second, their pictures, and those of the few that are ahead of the rate.
    expect(peakOf(seen)).toBeLessThanOrEqual(2 * (50 + 5));
    expect(took).toBeLessThanOrEqual(renderTime + 14_000);
    const looks = looksOf(seen);
    // Without the creation. One render is probed by its file.
    expect(looks.filter((requests) => requests > 2).length).toBeLessThanOrEqual(1);
    expect(Math.max(...looks) + 1).toBeLessThanOrEqual(5);
  });

  it("are looked up at this rate also by a later run, when they were completed long before", async () => {
    const { clock, partner, seen } = startService(
      () => renderTime,
      (left) => Math.ceil(left / 1_000),
    );
    const run = (deadline: number) =>
      settle(clock, collect(partner.renders.batch(rowsOf(300), { deadline, download: false })), 100);
    expect(tally(await run(30_000))).toEqual({ error: 300 });
    await clock.advance(3_600_000);
    const before = seen.length;
    expect(tally(await run(120_000))).toEqual({ ok: 300 });
    expect(peakOf(seen.slice(before))).toBeLessThanOrEqual(50 + 5);
  });

  it("are not delayed if they are few", async () => {
    const [one, few] = [await make(1), await make(20)];
    const lastLook = ({ seen }: { readonly seen: readonly Seen[] }) =>
      Math.max(...seen.map(({ at }) => at)) - (seen[0]?.at ?? 0);
    expect(lastLook(few)).toBeGreaterThan(renderTime);
    expect(lastLook(few) - lastLook(one)).toBeLessThanOrEqual(2_300);
  });
});
