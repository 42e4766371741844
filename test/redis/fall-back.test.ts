import { expect, it } from "vitest";
import { type AskedPolicy, type ReportedLevel, readReply } from "../../src/redis/protocol.ts";
import { script } from "../../src/redis/script.ts";
import { consume } from "../support/pacing/consumer.ts";
import { sequence } from "../support/pacing/sequence.ts";
import { createService, type Service } from "../support/pacing/service.ts";
import { large, refusals, type Simulation, serverTime, simulate, times } from "./simulation.ts";
import { describeWithRedis, useRedis } from "./use-redis.ts";

type Bounds = readonly [shortest: number, longest: number];

describeWithRedis("a fleet that loses Redis and reconnects", () => {
  const context = useRedis();

  /** Processes with a thousand calls in all; the duration of each call is within the bounds. */
  function start({ clock, join }: Simulation, service: Service, processes: number, [shortest, longest]: Bounds) {
    const random = sequence(11);
    const half = () => (shortest + (longest - shortest) * random()) / 2;
    const traffic = { serve: () => service.serve(["default"]), latency: () => [half(), half()] as const };
    return Array.from({ length: processes }, () =>
      consume({ clock, pacer: join(), calls: 1_000 / processes, parallel: 1_000, ...traffic }),
    );
  }

  it.each<[ms: number, processes: number, latency: Bounds]>([
    [50, 4, [20, 50]],
    [100, 8, [4, 6]],
    [900, 4, [300, 700]],
  ])(
    "leaves tokens to the other processes when Redis is lost %s ms after %s of them have started",
    async (ms, processes, latency) => {
      const fleet = simulate(context.redis);
      const { clock } = fleet;
      const began = clock.now();
      const outcomes = start(fleet, createService(clock, large), processes, latency);
      await clock.run(began + ms);
      fleet.down = true;
      await clock.run(began + ms + 3_000);
      await context.redis.flushAll();
      fleet.down = false;
      await clock.run(began + 60_000);
      expect(fleet.lost).toHaveLength(processes);
      expect(times(outcomes)).toHaveLength(1_000);
      expect(refusals(outcomes)).toBeLessThanOrEqual(1);
      expect(Math.max(...times(outcomes)) - began).toBeLessThan(14_000 / 0.97 + 2 * latency[1]);
    },
  );

  it("sends a few requests, not all, when the first response takes more than a second", async () => {
    const fleet = simulate(context.redis);
    const { clock } = fleet;
    const service = createService(clock, { default: [300, 600_000] });
    service.drain("default", 300);
    const outcomes = start(fleet, service, 4, [2_400, 2_400]);
    await clock.run(clock.now() + 3_600);
    expect(refusals(outcomes)).toBeLessThanOrEqual(1 + 4);
  });

  it("keeps the first response that all processes wait for when others reconnect meanwhile", async () => {
    let now = 10_000_000;
    const visit = async (
      process: string,
      fields: Partial<AskedPolicy>,
      rest: { returning?: true; wanted?: number } = {},
    ) => {
      now += 10;
      const policy = { quota: 300, window: 6_000, underWay: 0, unused: 0, reports: [], hold: 0, ...fields };
      const ask = {
        process,
        returning: false,
        latest: 0,
        passed: 0,
        wanted: 0,
        stock: 0,
        roundTrip: 5,
        visit: 1,
        policies: [policy],
        ...rest,
      };
      const text = script.replace(serverTime, `{ ${Math.floor(now / 1000)}, ${(now % 1000) * 1000} }`);
      return readReply(await context.redis.eval(text, { keys: ["bucket"], arguments: [JSON.stringify(ask)] }));
    };
    await visit("a", {}, { returning: true });
    const { at, dues } = await visit("a", {}, { wanted: 40 });
    expect(dues).toEqual([0]);
    await visit("b", {}, { returning: true });
    const response: ReportedLevel = { at, level: 299, granted: 1, settled: 0, quota: 300, window: 6_000, remaining: 7 };
    const [known] = (await visit("a", { reports: [response] })).policies;
    expect(known?.heard).toBe(true);
    expect(known?.level).toBeLessThanOrEqual(7);
  });
});
