import { expect, it } from "vitest";
import { CancelScope } from "../../src/http/cancel-scope.ts";
import { endpointOf } from "../support/endpoints.ts";
import { consume } from "../support/pacing/consumer.ts";
import { sequence } from "../support/pacing/sequence.ts";
import { createService, type Service } from "../support/pacing/service.ts";
import { startUnpacedClient } from "../support/pacing/unpaced-client.ts";
import { large, refusals, type Simulation, simulate, times } from "./simulation.ts";
import { describeWithRedis, useRedis } from "./use-redis.ts";

describeWithRedis("a fleet under difficult conditions", () => {
  const context = useRedis();

  const random = sequence(7);
  const latency = () => [2 + random(), 2 + random()] as const;
  const start = ({ clock, join }: Simulation, service: Service, calls: number, parallel = 64) =>
    consume({ clock, pacer: join(), serve: () => service.serve(["default"]), calls, parallel, latency });

  it("is not slowed down by a distant Redis", async () => {
    const fleet = simulate(context.redis, 300);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, { default: [3_000, 60_000] });
    const outcome = start(fleet, service, 4_000, 1_000);
    await clock.run(began + 60_000);
    expect(times([outcome])).toHaveLength(4_000);
    expect(refusals([outcome])).toBe(0);
    // 20 s, and three visits before the bucket is known, in which it is full.
    expect(Math.max(...times([outcome])) - began).toBeLessThan(22_000);
    expect(fleet.lost).toEqual([]);
  });

  it("serves sixteen processes in turn when tokens are rare", async () => {
    const fleet = simulate(context.redis);
    const { clock } = fleet;
    const service = createService(clock, { default: [10, 2_000] });
    const outcomes = Array.from({ length: 16 }, () => start(fleet, service, 10));
    await clock.run(clock.now() + 4_500);
    // 10 tokens, and 22 more.
    const parts = outcomes.map((outcome) => times([outcome]).length);
    expect(parts.reduce((sum, part) => sum + part, 0)).toBeGreaterThanOrEqual(30);
    expect(refusals(outcomes)).toBe(0);
    expect(Math.min(...parts)).toBeGreaterThanOrEqual(1);
    expect(Math.max(...parts)).toBeLessThanOrEqual(3);
  });

  it("does not reserve tokens of a full bucket for processes that have not started", async () => {
    const fleet = simulate(context.redis);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, { default: [1, 500] });
    const outcomes = Array.from({ length: 4 }, () => start(fleet, service, 10));
    await clock.run(began + 60_000);
    expect(times(outcomes)).toHaveLength(40);
    expect(Math.max(...times(outcomes)) - began).toBeLessThan(21_500);
  });

  it.each([8, 20])("lets none of %s processes wait when the bucket has refilled after a refusal", async (processes) => {
    const fleet = simulate(context.redis);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, { default: [10, 2_000] });
    const outcomes = Array.from({ length: processes }, () => start(fleet, service, 80 / processes));
    clock.after(3_000, () => service.drain("default", 10));
    await clock.run(began + 60_000);
    expect(times(outcomes)).toHaveLength(80);
    expect(refusals(outcomes)).toBeLessThanOrEqual(2);
    // 14 s, and the reserve that is kept for a possible other client: two thirds of the quota.
    expect(Math.max(...times(outcomes)) - began).toBeLessThan(16_000);
  });

  it.each([1, 50])(
    "serves a process with few calls before the long queues of others, %s ms from Redis",
    async (roundTrip) => {
      const fleet = simulate(context.redis, roundTrip);
      const { clock, join } = fleet;
      const service = createService(clock, large);
      for (let process = 0; process < 16; process += 1) start(fleet, service, 100, 1_000);
      await clock.run(clock.now() + 8_000);
      const pacer = join();
      const quote = endpointOf("orders.quote");
      const waits: number[] = [];
      const ask = async () => {
        const asked = clock.now();
        const grant =
          pacer.tryAcquire(quote) ?? (await pacer.acquire(quote, "high", new CancelScope(clock, undefined, undefined)));
        waits.push(clock.now() - asked);
        pacer.observe(quote, grant, service.serve(["default"]).headers);
      };
      for (let call = 0; call < 20; call += 1) clock.after(307 * call, () => void ask());
      await clock.run(clock.now() + 8_000);
      expect(waits).toHaveLength(20);
      expect(Math.max(...waits)).toBeLessThanOrEqual(150 + 2 * roundTrip);
    },
  );

  it("continues when Redis's clock is set back by an hour", async () => {
    const fleet = simulate(context.redis);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, large);
    // Another client, so that the time of the fleet's latest token matters.
    startUnpacedClient(clock, service, 40, began + 15_000);
    const outcomes = Array.from({ length: 4 }, () => start(fleet, service, 200));
    clock.after(10_000, () => {
      fleet.ahead = -3_600_000;
    });
    await clock.run(began + 40_000);
    expect(times(outcomes)).toHaveLength(800);
    expect(refusals(outcomes)).toBeLessThanOrEqual(8);
  });

  it.each([1_000, 5_000, 3_600_000])("is not refused when Redis's clock is set ahead by %s ms", async (ms) => {
    const fleet = simulate(context.redis);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, large);
    const outcomes = Array.from({ length: 4 }, () => start(fleet, service, 200));
    clock.after(8_000, () => {
      fleet.ahead = ms;
    });
    await clock.run(began + 40_000);
    expect(times(outcomes)).toHaveLength(800);
    expect(refusals(outcomes)).toBe(0);
    expect(Math.max(...times(outcomes)) - began).toBeLessThan(10_500);
  });

  it.each([4, 8])(
    "lets none of %s processes use tokens that were granted before Redis was emptied",
    async (processes) => {
      const fleet = simulate(context.redis);
      const { clock } = fleet;
      const began = clock.now();
      const service = createService(clock, large);
      const outcomes = Array.from({ length: processes }, () => start(fleet, service, 1_200 / processes, 1_000));
      for (let time = 1; time <= 10; time += 1) {
        await clock.run(began + 1_500 * time);
        await context.redis.flushAll();
      }
      await clock.run(began + 60_000);
      expect(times(outcomes)).toHaveLength(1_200);
      expect(refusals(outcomes)).toBeLessThanOrEqual(1);
      expect(Math.max(...times(outcomes)) - began).toBeLessThan(18_000 / 0.97);
    },
  );

  it.each([
    ["take up to 1.5 s to reach the service", 4, [100, 1_500], [0, 0]],
    ["get their response after more than a second", 8, [600, 950], [600, 950]],
  ] as const)("neither stalls nor is refused when requests %s", async (_, processes, there, back) => {
    const { clock, join } = simulate(context.redis);
    const began = clock.now();
    const service = createService(clock, large);
    const within = ([shortest, longest]: readonly [number, number]) => shortest + (longest - shortest) * random();
    const traffic = { serve: () => service.serve(["default"]), calls: 1_000 / processes, parallel: 1_000 };
    const outcomes = Array.from({ length: processes }, () =>
      consume({ clock, pacer: join(), ...traffic, latency: () => [within(there), within(back)] }),
    );
    await clock.run(began + 60_000);
    expect(times(outcomes)).toHaveLength(1_000);
    expect(refusals(outcomes)).toBe(0);
    // 14 s, the first request that is sent alone, and the requests in transit at the end.
    expect(Math.max(...times(outcomes)) - began).toBeLessThan(20_000);
  });

  it.each([
    ["a huge quota", '"default";q=999999999999999;w=1'],
    ["one token in a very long window", '"default";q=1;w=999999999999999'],
    ["text", '"default";q=many;w=1'],
    ["nothing", ""],
  ])("continues after headers with %s", async (_, policy) => {
    const fleet = simulate(context.redis);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, large);
    const serve = () => {
      const served = service.serve(["default"]);
      const absurd = clock.now() > began + 5_000 && clock.now() < began + 5_100;
      return absurd ? { ...served, headers: new Headers({ "x-ratelimit-policy": policy }) } : served;
    };
    const outcomes = Array.from({ length: 4 }, () =>
      consume({ clock, pacer: fleet.join(), serve, calls: 200, parallel: 64, latency }),
    );
    await clock.run(began + 30_000);
    expect(fleet.lost).toEqual([]);
    // While the headers report one token in a very long window, no call can be sent.
    if (!policy.includes("q=1;")) expect(times(outcomes)).toHaveLength(800);
  });
});
