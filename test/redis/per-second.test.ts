import { expect, it } from "vitest";
import type { PartnerClock } from "../../src/util/clock.ts";
import { consume } from "../support/pacing/consumer.ts";
import { sequence } from "../support/pacing/sequence.ts";
import { createService } from "../support/pacing/service.ts";
import { refusals, simulate, times } from "./simulation.ts";
import { describeWithRedis, useRedis } from "./use-redis.ts";

describeWithRedis("the ceiling of a fleet", () => {
  const context = useRedis();
  const ceiling = { perSecond: 20, burst: 8 };

  function start(
    processes: number,
    callsOf: (index: number) => number,
    { roundTrip = 1, limit = ceiling, ownClock = (clock: PartnerClock) => clock } = {},
  ) {
    const fleet = simulate(context.redis, roundTrip);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, { default: [3_000, 60_000] });
    const received: number[] = [];
    const outcomes = Array.from({ length: processes }, (_, index) =>
      consume({
        clock,
        pacer: fleet.join(ownClock(clock), limit),
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

  it("leaves the tokens to other processes while a call waits for a distant slot", async () => {
    const fleet = simulate(context.redis, 5);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, { default: [5, 60_000] });
    const serve = () => service.serve(["default"]);
    const latency = () => [2, 2] as const;
    const limit = { perSecond: 0.01, burst: 1 };
    const limited = consume({ clock, pacer: fleet.join(clock, limit), serve, calls: 6, parallel: 6, latency });
    await clock.run(began + 4_000);
    expect(limited.served).toHaveLength(1);
    const free = consume({ clock, pacer: fleet.join(clock), serve, calls: 3, parallel: 3, latency });
    await clock.run(began + 5_000);
    expect(free.served).toHaveLength(3);
  });

  it.each([1, 5_000])("takes the turn back from a call when a 429 comes, with Redis %i ms away", async (roundTrip) => {
    const fleet = simulate(context.redis, roundTrip);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, { default: [3_000, 60_000] });
    const received: number[] = [];
    const serve = () => {
      const refused = received.push(clock.now()) === 2;
      return { ...service.serve(["default"]), refused, retryAfter: 20_000 };
    };
    const pacer = fleet.join(clock, { perSecond: 1, burst: 1 });
    const outcome = consume({ clock, pacer, serve, calls: 5, parallel: 5, latency: () => [2, 2] as const });
    await clock.run(began + 60_000);
    expect(outcome.served).toHaveLength(5);
    expect((received[2] ?? 0) - (received[1] ?? 0)).toBeGreaterThanOrEqual(20_000);
  });

  it("gives one process the requests that the others do not use", async () => {
    const { fleet, began, outcomes, mostIn } = start(4, (index) => (index === 0 ? 200 : 10));
    await fleet.clock.run(began + 60_000);
    expect(times(outcomes)).toHaveLength(230);
    expect(mostIn(399)).toBeLessThanOrEqual(8);
    expect(Math.max(...times(outcomes)) - began).toBeLessThan(1.05 * 11_500);
  });

  it.each([
    { roundTrip: 20, burst: 1 },
    { roundTrip: 100, burst: 1 },
    { roundTrip: 100, burst: 5 },
    { roundTrip: 100, burst: 8 },
    { roundTrip: 250, burst: 1 },
    { roundTrip: 250, burst: 5 },
    { roundTrip: 250, burst: 20 },
  ])(
    "is used up and kept although Redis is $roundTrip ms away, with bursts of $burst",
    async ({ roundTrip, burst }) => {
      const { fleet, began, outcomes, mostIn } = start(2, () => 200, { roundTrip, limit: { perSecond: 20, burst } });
      await fleet.clock.run(began + 60_000);
      expect(times(outcomes)).toHaveLength(400);
      // A timer of this clock is up to a millisecond late.
      expect(mostIn((1_000 * burst) / 20 - 2)).toBeLessThanOrEqual(burst);
      expect(Math.max(...times(outcomes)) - began).toBeLessThan(1.1 * 20_000);
    },
  );

  it("sends no request more than 50 ms after its slot, although timers are late", async () => {
    const random = sequence(5);
    const late = (clock: PartnerClock): PartnerClock => ({
      now: () => clock.now(),
      after: (ms, callback) => clock.after(ms + 300 * random() ** 2, callback),
    });
    const { fleet, began, outcomes, mostIn } = start(2, () => 100, { roundTrip: 20, ownClock: late });
    await fleet.clock.run(began + 120_000);
    expect(times(outcomes)).toHaveLength(200);
    expect(mostIn(400 - 50 - 20)).toBeLessThanOrEqual(8);
  });

  it("sends all requests of a process whose timers are always late", async () => {
    const late = (clock: PartnerClock): PartnerClock => ({
      now: () => clock.now(),
      after: (ms, callback) => clock.after(ms + 120, callback),
    });
    const limit = { perSecond: 2.5, burst: 1 };
    const { fleet, began, outcomes } = start(2, () => 5, { limit, ownClock: late });
    await fleet.clock.run(began + 60_000);
    expect(times(outcomes)).toHaveLength(10);
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
    const { fleet, began, outcomes } = start(2, () => 200);
    fleet.clock.after(2_000, () => {
      fleet.ahead = -3_600_000;
    });
    await fleet.clock.run(began + 60_000);
    expect(times(outcomes)).toHaveLength(400);
  });
});
