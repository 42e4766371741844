import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Bucket } from "../../../src/http/pacing/bucket.ts";
import { FairShare } from "../../../src/http/pacing/fair-share.ts";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import { Buckets } from "../../../src/http/pacing/tokens.ts";
import { consume, type Outcome } from "../../support/pacing/consumer.ts";
import { sequence } from "../../support/pacing/sequence.ts";
import { createService } from "../../support/pacing/service.ts";
import { createTimeline } from "../../support/pacing/timeline.ts";
import { startUnpacedClient } from "../../support/pacing/unpaced-client.ts";

interface Fleet {
  readonly processes: number;
  readonly calls: number;
  readonly quota: number;
  readonly perSecond: number;
  /** Milliseconds in each direction. */
  readonly oneWay: number;
  /** Tokens a second that an unpaced client takes. */
  readonly unpaced?: number;
  readonly seed?: number;
}

/** Processes that do not know of each other, each with 64 concurrent calls. */
async function run({ processes, calls, quota, perSecond, oneWay, unpaced = 0, seed = 7 }: Fleet) {
  const clock = createTimeline();
  const service = createService(clock, { default: [quota, (quota / perSecond) * 1000] });
  const random = sequence(seed);
  const outcomes: Outcome[] = [];
  if (unpaced > 0) startUnpacedClient(clock, service, 1000 / unpaced);
  for (let index = 0; index < processes; index += 1) {
    clock.after(random() * 50, () => {
      outcomes.push(
        consume({
          clock,
          pacer: new Pacer(clock),
          serve: () => service.serve(["default"]),
          calls: calls / processes,
          parallel: 64,
          latency: () => [oneWay + random(), oneWay + random()],
        }),
      );
    });
  }
  await clock.run(120_000);
  const served = outcomes.flatMap((outcome) => outcome.served);
  const firstDone = Math.min(...outcomes.map((outcome) => Math.max(...outcome.served.map(({ at }) => at))));
  const parts = outcomes.map((outcome) => outcome.served.filter(({ at }) => at <= firstDone).length);
  const fair = parts.reduce((sum, part) => sum + part, 0) / processes;
  return {
    served: served.length,
    seconds: Math.max(...served.map(({ at }) => at)) / 1000,
    slowest: Math.max(...served.map(({ took }) => took)) / 1000,
    refusals: outcomes.reduce((sum, outcome) => sum + outcome.refusals, 0),
    worst: Math.max(...outcomes.map((outcome) => outcome.worst)),
    unfair: Math.max(...parts.map((part) => Math.abs(part / fair - 1))),
  };
}

describe("processes that share a bucket without knowing of each other", () => {
  beforeEach(() => {
    vi.spyOn(Math, "random").mockImplementation(sequence(11));
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const seeds = [7, 77, 777, 7777];
  it.each([2, 5].flatMap((oneWay) => seeds.map((seed) => ({ oneWay, seed }))))(
    "at $oneWay ms each way share it fairly, without a refusal: $seed",
    async ({ oneWay, seed }) => {
      const fleet = await run({ processes: 4, calls: 1300, quota: 300, perSecond: 50, oneWay, seed });
      expect(fleet.served).toBe(1300);
      expect(fleet.refusals).toBe(0);
      expect(fleet.seconds).toBeLessThan(20 * 1.03);
      expect(fleet.slowest).toBeLessThan(6);
      expect(fleet.unfair).toBeLessThan(0.25);
    },
  );

  it("share a bucket with the quota of the specification", async () => {
    const fleet = await run({ processes: 4, calls: 6000, quota: 3000, perSecond: 50, oneWay: 20 });
    expect(fleet.served).toBe(6000);
    expect(fleet.refusals).toBe(0);
    expect(fleet.unfair).toBeLessThan(0.05);
  });

  it.each([
    { oneWay: 20, quota: 3000, calls: 6400, refused: 0.005 },
    { oneWay: 250, quota: 3000, calls: 6400, refused: 0.03 },
    { oneWay: 250, quota: 300, calls: 3200, refused: 0.03 },
  ])("share a bucket of $quota when they are many, at $oneWay ms each way, with few refusals", async (given) => {
    const { oneWay, quota, calls, refused } = given;
    const fleet = await run({ processes: 16, calls, quota, perSecond: 50, oneWay });
    expect(fleet.served).toBe(calls);
    expect(fleet.seconds).toBeLessThan(((calls - quota) / 50) * 1.06);
    expect(fleet.refusals).toBeLessThanOrEqual(refused * calls);
    expect(fleet.worst).toBeLessThanOrEqual(2);
    expect(fleet.unfair).toBeLessThan(0.25);
  });

  /** Processes that upload when the daily quota is used up: a token comes every 17.28 s. */
  async function upload(processes: number, calls: number, seed: number) {
    const clock = createTimeline();
    const service = createService(clock, { default: [3_000, 60_000], uploads: [5_000, 86_400_000] });
    service.drain("uploads", 5_000);
    const random = sequence(seed);
    vi.spyOn(Math, "random").mockImplementation(sequence(seed + 1));
    const outcomes: Outcome[] = [];
    for (let index = 0; index < processes; index += 1) {
      clock.after(random() * 50, () => {
        outcomes.push(
          consume({
            clock,
            pacer: new Pacer(clock),
            serve: () => service.serve(["default", "uploads"]),
            calls: calls / processes,
            parallel: calls / processes,
            latency: () => [20 + 10 * random(), 20 + 10 * random()],
            call: "images.upload",
            retries: 4,
          }),
        );
      });
    }
    await clock.run(7_200_000);
    return { outcomes, done: outcomes.flatMap(({ served }) => served.map(({ at }) => at)) };
  }

  it.each([1, 2, 3, 4, 5, 6])("upload without a failure when the daily quota is used up: %i", async (seed) => {
    const { outcomes, done } = await upload(8, 40, seed * 7919);
    expect(outcomes.reduce((sum, { failed }) => sum + failed, 0)).toBe(0);
    expect(done).toHaveLength(40);
    expect(Math.max(...done)).toBeLessThan(40 * 17_280 * 1.4);
  });

  it("leave tokens to each other when the daily quota is used up", async () => {
    const { outcomes } = await upload(2, 80, 104_729);
    const [one = 0, other = 0] = outcomes.map(({ served }) => served.filter(({ at }) => at < 700_000).length);
    expect(Math.min(one, other)).toBeGreaterThan(0.5 * Math.max(one, other));
  });

  it.each([
    { processes: 2, quota: 150, oneWay: 500, most: 2.1 },
    { processes: 4, quota: 150, oneWay: 500, most: 1.8 },
    { processes: 2, quota: 60, oneWay: 250, most: 1.5 },
  ])(
    "use a bucket of $quota when they are $processes and responses are slow: $oneWay ms each way",
    async ({ most, ...given }) => {
      const fleet = await run({ ...given, calls: 500, perSecond: 50 });
      expect(fleet.served).toBe(500);
      expect(fleet.refusals).toBeLessThanOrEqual(0.01 * 500);
      expect(fleet.seconds).toBeLessThan(most * ((500 - given.quota) / 50));
      expect(fleet.unfair).toBeLessThan(0.75);
    },
  );

  it("leave an unpaced client the tokens that it takes", async () => {
    const fleet = await run({ processes: 1, calls: 1300, quota: 300, perSecond: 50, oneWay: 2, unpaced: 25 });
    expect(fleet.served).toBe(1300);
    expect(fleet.refusals).toBe(0);
    expect(fleet.seconds).toBeLessThan(40 * 1.02);
  });

  it("do not block a process that starts when the bucket is empty", async () => {
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
    expect(late.served).toHaveLength(20);
  });
});

describe("processes of a fleet that loses its storage", () => {
  it("are seldom refused when they are many and the bucket is small", async () => {
    let refusals = 0;
    for (const seed of [1, 2, 3, 4, 5]) {
      vi.spyOn(Math, "random").mockImplementation(sequence(seed));
      const random = sequence(seed + 100);
      const clock = createTimeline();
      const service = createService(clock, { default: [60, 60_000] });
      const processes = Array.from({ length: 16 }, () => {
        const own = new Buckets(clock);
        const latency = () => [40 + 5 * random(), 40 + 5 * random()] as const;
        return {
          own,
          clock,
          pacer: new Pacer(clock, { open: () => own }),
          serve: () => service.serve(["default"]),
          latency,
        };
      });
      const before = processes.map((process) => consume({ ...process, calls: 1, parallel: 1 }));
      await clock.run(150);
      const level = service.level("default") / processes.length;
      for (const { own } of processes) own.bucket("default").join(level, processes.length, clock.now());
      const after = processes.map((process) => consume({ ...process, calls: 6, parallel: 64 }));
      await clock.run(400_000);
      expect([...before, ...after].map(({ served }) => served.length)).toEqual([
        ...before.map(() => 1),
        ...after.map(() => 6),
      ]);
      refusals += after.reduce((sum, outcome) => sum + outcome.refusals, 0);
    }
    vi.restoreAllMocks();
    // Five runs of 96 calls.
    expect(refusals).toBeLessThan(30);
  });

  it("share the bucket from the start, each with its part of the level, although no response has shown the others", async () => {
    const clock = createTimeline();
    const service = createService(clock, { default: [300, 6_000] });
    const processes = 4;
    const own: Buckets[] = [];
    const outcomes = Array.from({ length: processes }, () => {
      const open = (buckets: Buckets) => {
        own.push(buckets);
        return buckets;
      };
      return { pacer: new Pacer(clock, { open }) };
    }).map(({ pacer }) => {
      const traffic = { clock, pacer, serve: () => service.serve(["default"]), latency: () => [40, 40] as const };
      return [consume({ ...traffic, calls: 1, parallel: 1 }), traffic] as const;
    });
    await clock.run(1_000);
    const level = service.level("default");
    for (const buckets of own) buckets.bucket("default").join(level / processes, processes, clock.now());
    const bursts = outcomes.map(([, traffic]) => consume({ ...traffic, calls: 200, parallel: 64 }));
    await clock.run(60_000);
    expect(bursts.map(({ served }) => served.length)).toEqual([200, 200, 200, 200]);
    expect(bursts.reduce((sum, { refusals }) => sum + refusals, 0)).toBe(0);
    expect(Math.max(...bursts.flatMap(({ served }) => served.map(({ at }) => at)))).toBeLessThan(12_000);
  });
});

describe("requests that were sent before the first report of a bucket", () => {
  it.each([
    [3_000, 60_000],
    [3_000, 6_000],
    [2_900, 60_000],
    [300, 60_000],
    [300, 6_000],
    [100, 600_000],
  ])("show what others took, and nothing when others took none: %d in %d ms", (quota, window) => {
    const remainingAfter = (others: number) => {
      const bucket = new Bucket(3_000, 60_000, 0);
      const [first, second] = [1, 2, 3, 4].map(() => bucket.take(0));
      if (first === undefined || second === undefined) throw new Error("No request was sent");
      bucket.observe(first, { quota, window, remaining: quota - 1, empty: false }, 40);
      bucket.observe(second, { quota, window, remaining: quota - 2 - others, empty: false }, 40);
      return bucket.remaining(40);
    };
    expect(remainingAfter(0)).toBe(quota - 4);
    // The service may have counted the last two requests before the second one.
    expect(remainingAfter(60)).toBeLessThanOrEqual(quota - 60);
    expect(remainingAfter(60)).toBeGreaterThanOrEqual(quota - 64);
  });
});

describe("the part of a client in a bucket of one token in 20 ms that others use", () => {
  /** 24 tokens are the reserve, at which a client sends at the rate of the refill. */
  const paceAt = (level: number) => (level > 24 ? (20 * 24) / level : 20 * (24 / level) ** 2);
  const share = () => new FairShare({ quota: 1_000, inFlight: 0, interval: 20, roundTrip: 0 });
  const paceOf = (one: FairShare, now: number) => {
    one.wait(now);
    return one.pace();
  };

  it.each([1, 2, 4])("grows by its part of the refill when %i clients share it from now on", (clients) => {
    const one = share();
    one.join(48, clients, 0);
    expect(one.pace()).toBe(paceAt(48));
    // The others are assumed to have used their part of the 50 tokens of a second: they come in 1,100 ms.
    const others = (50 * (1 - 1 / clients) * 100) / 1_100;
    expect(paceOf(one, 100)).toBeCloseTo(paceAt(48 + 5 - others));
  });

  it("shrinks by what they took between two responses", () => {
    const one = share();
    one.notice(10, 0);
    // 10 and 50 that came, of which 12 are left.
    one.observe(12, 1_000);
    expect(paceOf(one, 1_100)).toBeCloseTo(paceAt(12 + 5 - (48 * 100) / 1_100));
  });

  it("does not shrink by the difference to another size of the bucket", () => {
    const one = share();
    one.notice(60, 0);
    one.resize();
    one.observe(12, 1_000);
    expect(paceOf(one, 1_100)).toBeCloseTo(paceAt(12 + 5));
  });

  it("keeps no more in reserve than comes within two minutes", () => {
    const slow = new FairShare({ quota: 1_000, inFlight: 0, interval: 60_000, roundTrip: 0 });
    slow.notice(4, 0);
    expect(slow.pace()).toBe(30_000);
  });
});
