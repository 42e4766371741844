import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import { consume, type Outcome } from "../../support/pacing/consumer.ts";
import { sequence } from "../../support/pacing/sequence.ts";
import { createService } from "../../support/pacing/service.ts";
import { createTimeline } from "../../support/pacing/timeline.ts";

interface Fleet {
  readonly processes: number;
  readonly calls: number;
  readonly quota: number;
  readonly perSecond: number;
  /** Milliseconds each way. */
  readonly way: number;
  /** Tokens a second that somebody takes who paces nothing. */
  readonly drink?: number;
}

/** Processes that know nothing of each other, each with 64 calls at a time. */
async function run({ processes, calls, quota, perSecond, way, drink = 0 }: Fleet) {
  const clock = createTimeline();
  const service = createService(clock, { default: [quota, (quota / perSecond) * 1000] });
  const random = sequence(7);
  const outcomes: Outcome[] = [];
  const tick = () => {
    service.drink("default", 1);
    clock.after(1000 / drink, tick);
  };
  if (drink > 0) tick();
  for (let index = 0; index < processes; index += 1) {
    clock.after(random() * 50, () => {
      outcomes.push(
        consume({
          clock,
          pacer: new Pacer(clock),
          serve: () => service.serve(["default"]),
          calls: calls / processes,
          parallel: 64,
          latency: () => [way + random(), way + random()],
        }),
      );
    });
  }
  await clock.run(120_000);
  const answered = outcomes.flatMap((outcome) => outcome.answered);
  const firstDone = Math.min(...outcomes.map((outcome) => Math.max(...outcome.answered.map(({ at }) => at))));
  const parts = outcomes.map((outcome) => outcome.answered.filter(({ at }) => at <= firstDone).length);
  const fair = parts.reduce((sum, part) => sum + part, 0) / processes;
  return {
    answered: answered.length,
    seconds: Math.max(...answered.map(({ at }) => at)) / 1000,
    slowest: Math.max(...answered.map(({ took }) => took)) / 1000,
    refusals: outcomes.reduce((sum, outcome) => sum + outcome.refusals, 0),
    worst: Math.max(...outcomes.map((outcome) => outcome.worst)),
    unfair: Math.max(...parts.map((part) => Math.abs(part / fair - 1))),
  };
}

describe("processes that drink from one bucket without knowing of each other", () => {
  beforeEach(() => {
    vi.spyOn(Math, "random").mockImplementation(sequence(11));
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each([2, 5])("of %i ms there and back share it fairly, nearly without a refusal", async (way) => {
    const fleet = await run({ processes: 4, calls: 1300, quota: 300, perSecond: 50, way });
    expect(fleet.answered).toBe(1300);
    expect(fleet.seconds).toBeLessThan(20 / 0.93);
    expect(fleet.refusals).toBeLessThanOrEqual(0.05 * 1300);
    expect(fleet.worst).toBeLessThanOrEqual(4);
    expect(fleet.slowest).toBeLessThan(8);
    expect(fleet.unfair).toBeLessThan(0.25);
  });

  it("share a bucket of the specification's size", async () => {
    const fleet = await run({ processes: 4, calls: 6000, quota: 3000, perSecond: 50, way: 20 });
    expect(fleet.answered).toBe(6000);
    expect(fleet.refusals).toBeLessThanOrEqual(60);
    expect(fleet.unfair).toBeLessThan(0.25);
  });

  it("share when they are many: few refusals, and none again and again", async () => {
    const fleet = await run({ processes: 16, calls: 6400, quota: 3000, perSecond: 50, way: 20 });
    expect(fleet.answered).toBe(6400);
    expect(fleet.seconds).toBeLessThan(68 / 0.93);
    expect(fleet.refusals).toBeLessThanOrEqual(0.03 * 6400);
    expect(fleet.worst).toBeLessThanOrEqual(3);
  });

  it("leave to one that paces nothing what it takes", async () => {
    const fleet = await run({ processes: 1, calls: 1300, quota: 300, perSecond: 50, way: 2, drink: 25 });
    expect(fleet.answered).toBe(1300);
    expect(fleet.refusals).toBe(0);
    expect(fleet.seconds).toBeLessThan(40 * 1.02);
  });

  it("do not shut out one that starts when the bucket is empty", async () => {
    const clock = createTimeline();
    const service = createService(clock, { default: [20, 4000] });
    const process = (calls: number) =>
      consume({
        clock,
        pacer: new Pacer(clock),
        serve: () => service.serve(["default"]),
        calls,
        parallel: 20,
        latency: () => [2, 2],
      });
    process(1000);
    await clock.run(20_000);
    const late = process(20);
    await clock.run(35_000);
    expect(late.answered).toHaveLength(20);
  });
});
