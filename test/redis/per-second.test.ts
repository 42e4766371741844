import { expect, it } from "vitest";
import { consume } from "../support/pacing/consumer.ts";
import { createService } from "../support/pacing/service.ts";
import { refusals, simulate, times } from "./simulation.ts";
import { describeWithRedis, useRedis } from "./use-redis.ts";

describeWithRedis("the ceiling of a fleet", () => {
  const context = useRedis();
  const ceiling = { perSecond: 20, burst: 8 };

  function start(processes: number, callsOf: (index: number) => number, roundTrip = 1) {
    const fleet = simulate(context.redis, roundTrip);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, { default: [3_000, 60_000] });
    const received: number[] = [];
    const outcomes = Array.from({ length: processes }, (_, index) =>
      consume({
        clock,
        pacer: fleet.join(clock, ceiling),
        serve: () => {
          received.push(clock.now());
          return service.serve(["default"]);
        },
        calls: callsOf(index),
        parallel: 32,
        latency: () => [2, 2] as const,
      }),
    );
    const mostIn = (window: number) =>
      Math.max(...received.map((from) => received.filter((at) => at >= from && at < from + window).length));
    return { fleet, began, outcomes, received, mostIn };
  }

  it("limits all processes together, in equal parts", async () => {
    const { fleet, began, outcomes, mostIn } = start(4, () => 100);
    await fleet.clock.run(began + 60_000);
    expect(times(outcomes)).toHaveLength(400);
    expect(refusals(outcomes)).toBe(0);
    expect(mostIn(399)).toBeLessThanOrEqual(8);
    expect(Math.max(...times(outcomes)) - began).toBeLessThan(1.03 * 20_000);
    const firstDone = Math.min(...outcomes.map((outcome) => Math.max(...times([outcome]))));
    const parts = outcomes.map((outcome) => times([outcome]).filter((at) => at <= firstDone).length);
    expect(Math.min(...parts)).toBeGreaterThan(90);
  });

  it("gives one process the requests that the others do not use", async () => {
    const { fleet, began, outcomes, mostIn } = start(4, (index) => (index === 0 ? 200 : 10));
    await fleet.clock.run(began + 60_000);
    expect(times(outcomes)).toHaveLength(230);
    expect(mostIn(399)).toBeLessThanOrEqual(8);
    expect(Math.max(...times(outcomes)) - began).toBeLessThan(1.05 * 11_500);
  });

  it("is used up although Redis is far away", async () => {
    const { fleet, began, outcomes, mostIn } = start(2, () => 200, 100);
    await fleet.clock.run(began + 60_000);
    expect(times(outcomes)).toHaveLength(400);
    expect(mostIn(390)).toBeLessThanOrEqual(9);
    expect(Math.max(...times(outcomes)) - began).toBeLessThan(1.1 * 20_000);
  });

  it("limits each process alone while Redis cannot be reached", async () => {
    const { fleet, began, outcomes, received, mostIn } = start(2, () => 200);
    fleet.clock.after(2_000, () => {
      fleet.down = true;
    });
    await fleet.clock.run(began + 60_000);
    expect(times(outcomes)).toHaveLength(400);
    expect(mostIn(399)).toBeLessThanOrEqual(2 * 8);
    expect(received.filter((at) => at < began + 2_000).length).toBeLessThanOrEqual(48);
  });

  it("continues when the server's clock is set back by an hour", async () => {
    const { fleet, began, outcomes } = start(2, () => 2_000);
    fleet.clock.after(2_000, () => {
      fleet.ahead = -3_600_000;
    });
    await fleet.clock.run(began + 300_000);
    expect(times(outcomes)).toHaveLength(4_000);
  });
});
