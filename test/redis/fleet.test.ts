import { expect, it } from "vitest";
import { CancelScope } from "../../src/http/cancel-scope.ts";
import { Pacer } from "../../src/http/pacing/pacer.ts";
import type { Wait } from "../../src/http/pacing/wait.ts";
import type { PartnerClock } from "../../src/util/clock.ts";
import { endpointOf } from "../support/endpoints.ts";
import { consume } from "../support/pacing/consumer.ts";
import { sequence } from "../support/pacing/sequence.ts";
import { createService, type Service } from "../support/pacing/service.ts";
import { startUnpacedClient } from "../support/pacing/unpaced-client.ts";
import { large, refusals, type Simulation, simulate, times } from "./simulation.ts";
import { describeWithRedis, useRedis } from "./use-redis.ts";

/** A clock on which nothing happens after `die`, as for a process that is killed. */
function mortal(clock: PartnerClock): PartnerClock & { die(): void } {
  let dead = false;
  return {
    now: () => clock.now(),
    after: (ms, callback) => clock.after(ms, () => void (dead || callback())),
    die: () => {
      dead = true;
    },
  };
}

describeWithRedis("a fleet that shares its buckets through Redis", () => {
  const context = useRedis();

  const random = sequence(3);
  const traffic = (service: Service, calls: number) => ({
    serve: () => service.serve(["default"]),
    calls,
    parallel: 64,
    latency: () => [2 + random(), 2 + random()] as const,
  });
  const start = ({ clock, join }: Simulation, service: Service, calls: number, own: PartnerClock = clock) =>
    consume({ clock: own, pacer: join(own), ...traffic(service, calls) });

  it("uses every token, in equal parts, without a refusal", async () => {
    const fleet = simulate(context.redis);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, large);
    const outcomes = Array.from({ length: 4 }, () => start(fleet, service, 325));
    await clock.run(began + 60_000);
    expect(times(outcomes)).toHaveLength(1300);
    expect(refusals(outcomes)).toBe(0);
    expect(Math.max(...times(outcomes)) - began).toBeLessThan(20_000 / 0.97);
    const firstDone = Math.min(...outcomes.map((outcome) => Math.max(...times([outcome]))));
    const parts = outcomes.map((outcome) => times([outcome]).filter((at) => at <= firstDone).length);
    expect(Math.min(...parts)).toBeGreaterThan(0.75 * 325);
  });

  it("sends calls that draw from two policies after one of the policies was held", async () => {
    const fleet = simulate(context.redis);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, { default: [60, 3_000], uploads: [20, 2_000] });
    const first = fleet.join();
    consume({ clock, pacer: first, ...traffic(service, 1) });
    await clock.run(began + 200);
    const get = endpointOf("orders.get");
    first.refuse(get, first.takeAnyway(get), new Headers(), { ms: 1_000 });
    await clock.run(began + 600);
    const serve = () => service.serve(["default", "uploads"]);
    const uploads = consume({ clock, pacer: fleet.join(), ...traffic(service, 5), serve, call: "images.upload" });
    await clock.run(began + 10_000);
    expect([times([uploads]).length, refusals([uploads])]).toEqual([5, 0]);
  });

  it("recovers the tokens that a killed process held", async () => {
    const fleet = simulate(context.redis);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, large);
    const victims = Array.from({ length: 3 }, () => mortal(clock));
    const killed = victims.map((own) => start(fleet, service, 1_000, own));
    const rest = [start(fleet, service, 1_000)];
    victims.forEach((victim, index) => void clock.after(8_000 + 500 * index, victim.die));
    await clock.run(began + 30_000);
    const window = times([...rest, ...killed]).filter((at) => at >= began + 12_000 && at < began + 16_000);
    expect(window.length).toBeGreaterThanOrEqual(0.97 * 200);
    expect(refusals(rest)).toBe(0);
  });

  it("returns the tokens of aborted calls", async () => {
    const { clock, join } = simulate(context.redis);
    const service = createService(clock, { default: [20, 60_000] });
    const endpoint = endpointOf("orders.get");
    const aborted = join();
    consume({ clock, pacer: aborted, ...traffic(service, 1) });
    await clock.run(clock.now() + 1_000);
    const controllers = Array.from({ length: 10 }, () => new AbortController());
    const waiting = controllers.map(({ signal }) =>
      aborted.acquire(endpoint, "normal", new CancelScope(clock, signal, undefined)),
    );
    for (const controller of controllers) controller.abort(new Error("no longer needed"));
    expect((await Promise.allSettled(waiting)).every(({ status }) => status === "rejected")).toBe(true);
    await clock.run(clock.now() + 1_000);
    const other = consume({ clock, pacer: join(), ...traffic(service, 18) });
    await clock.run(clock.now() + 1_000);
    expect(other.served).toHaveLength(18);
    expect(clock.pending).toBe(0);
  });

  it("leaves another client its tokens, with almost no refusal", async () => {
    const fleet = simulate(context.redis);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, large);
    startUnpacedClient(clock, service, 40, began + 60_000);
    const outcomes = Array.from({ length: 4 }, () => start(fleet, service, 325));
    await clock.run(began + 100_000);
    expect(times(outcomes)).toHaveLength(1300);
    expect(refusals(outcomes)).toBeLessThanOrEqual(13);
    expect(Math.max(...times(outcomes)) - began).toBeLessThan(40_000 * 1.05);
  });

  it("reports that a call waits for the fleet's turn beside another client, and about how long", async () => {
    const fleet = simulate(context.redis);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, { default: [100, 5_000] });
    startUnpacedClient(clock, service, 100, began + 60_000);
    const reports: Wait[] = [];
    const report = (wait: Wait) => void reports.push(wait);
    const outcome = consume({ clock, pacer: fleet.join(), ...traffic(service, 200), parallel: 8, report });
    await clock.run(began + 60_000);
    expect(outcome.served).toHaveLength(200);
    const shared = reports.filter(({ reason }) => reason === "fair-share");
    expect(shared.length).toBeGreaterThan(0.7 * reports.length);
    const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
    const [said, waited] = [sum(shared.map(({ ms }) => ms)), sum(outcome.served.map(({ took }) => took))];
    expect(said).toBeGreaterThan(0.5 * waited);
    expect(said).toBeLessThan(1.5 * waited);
  });

  it("shares the bucket with a process that uses the SDK without the fleet", async () => {
    const fleet = simulate(context.redis);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, large);
    const single = consume({ clock, pacer: new Pacer(clock), ...traffic(service, 2_000) });
    const outcomes = Array.from({ length: 3 }, () => start(fleet, service, 1_000));
    await clock.run(began + 30_000);
    const [inside, outside] = [times(outcomes).length, times([single]).length];
    expect(inside + outside).toBeGreaterThan(0.95 * (300 + 30 * 50));
    expect(refusals([...outcomes, single])).toBeLessThanOrEqual(0.05 * (inside + outside));
    expect(outside / (inside + outside)).toBeGreaterThan(0.2);
    expect(inside / (inside + outside)).toBeGreaterThan(0.35);
  });

  it("waits as a whole when one of its processes is refused", async () => {
    const fleet = simulate(context.redis);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, large);
    const outcomes = Array.from({ length: 4 }, () => start(fleet, service, 325));
    clock.after(10_000, () => service.drain("default", 300));
    await clock.run(began + 60_000);
    expect(times(outcomes)).toHaveLength(1300);
    // At most the calls that already had their tokens.
    expect(refusals(outcomes)).toBeLessThanOrEqual(8);
  });

  it.each([
    ["and then has lost its data", true],
    ["and then has outdated data", false],
  ])("keeps sharing when Redis is down for three seconds %s", async (_, emptied) => {
    const fleet = simulate(context.redis);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, large);
    const outcomes = Array.from({ length: 4 }, () => start(fleet, service, 325));
    await clock.run(began + 8_000);
    fleet.down = true;
    await clock.run(began + 11_000);
    if (emptied) await context.redis.flushAll();
    fleet.down = false;
    await clock.run(began + 60_000);
    expect(times(outcomes)).toHaveLength(1300);
    expect(refusals(outcomes)).toBeLessThanOrEqual(1);
    expect(Math.max(...times(outcomes)) - began).toBeLessThan(20_000 / 0.97);
  });

  it("follows a quota that changes while it runs", async () => {
    const fleet = simulate(context.redis);
    const { clock } = fleet;
    const began = clock.now();
    const service = createService(clock, large);
    const outcomes = Array.from({ length: 4 }, () => start(fleet, service, 325));
    clock.after(8_000, () => service.resize("default", 600, 6_000));
    await clock.run(began + 60_000);
    // 700 by then, and 600 more at 100 a second.
    expect(Math.max(...times(outcomes)) - began).toBeLessThan(15_000);
    expect(refusals(outcomes)).toBe(0);
  });

  it("releases the calls of one policy when another is empty", async () => {
    const { clock, join } = simulate(context.redis);
    const service = createService(clock, { default: [300, 6_000], uploads: [2, 86_400_000] });
    const pacer = join();
    const uploads = consume({
      clock,
      pacer,
      ...traffic(service, 10),
      serve: () => service.serve(["default", "uploads"]),
      call: "images.upload",
    });
    const reads = consume({ clock, pacer, ...traffic(service, 50) });
    await clock.run(clock.now() + 5_000);
    expect(uploads.served).toHaveLength(2);
    expect(reads.served).toHaveLength(50);
    expect(refusals([uploads, reads])).toBe(0);
    expect(pacer.rateLimits().policies).toMatchObject({ uploads: { remaining: 0, waiting: 8 } });
  });
});
