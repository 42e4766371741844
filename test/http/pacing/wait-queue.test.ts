import { describe, expect, it } from "vitest";
import { CancelScope } from "../../../src/http/cancel-scope.ts";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import { type Priority, WaitQueues } from "../../../src/http/pacing/queue.ts";
import { endpointOf } from "../../support/endpoints.ts";
import { consume } from "../../support/pacing/consumer.ts";
import { createService } from "../../support/pacing/service.ts";
import { createTimeline } from "../../support/pacing/timeline.ts";

const get = endpointOf("orders.get");
const upload = endpointOf("images.upload");

const headers = (policies: string, levels: string) =>
  new Headers({ "x-ratelimit-policy": policies, "x-ratelimit": levels });

/** A pacer whose bucket of 300, refilled at 50 a second, is empty: a token comes every 20 ms. */
async function emptied() {
  const clock = createTimeline();
  const pacer = new Pacer(clock);
  const grant = pacer.takeAnyway(get);
  pacer.observe(get, grant, headers('"default";q=300;w=6', '"default";r=0;t=1'));
  const granted: string[] = [];
  const join = (
    name: string,
    priority: Priority = "normal",
    { again = false, signal = undefined as AbortSignal | undefined } = {},
  ) => {
    const scope = new CancelScope(clock, signal, undefined);
    pacer.acquire(get, priority, scope, { retried: again }).then(
      (held) => {
        granted.push(name);
        pacer.forget(held);
      },
      () => undefined,
    );
  };
  return { clock, pacer, granted, join };
}

describe("the queue of waiting calls", () => {
  it("releases calls in the order of arrival", async () => {
    const { clock, granted, join } = await emptied();
    for (const name of ["a", "b", "c"]) join(name);
    await clock.run(1_000);
    expect(granted).toEqual(["a", "b", "c"]);
    expect(clock.pending).toBe(0);
  });

  it("releases a refused call first", async () => {
    const { clock, granted, join } = await emptied();
    for (const name of ["a", "b"]) join(name);
    join("refused", "normal", { again: true });
    await clock.run(1_000);
    expect(granted).toEqual(["refused", "a", "b"]);
  });

  it("removes an aborted call at once, with its token, timer and place", async () => {
    const { clock, pacer, granted, join } = await emptied();
    const controllers = Array.from({ length: 100 }, () => new AbortController());
    for (const { signal } of controllers) join("aborted", "normal", { signal });
    join("stays");
    expect(pacer.rateLimits().policies.default?.waiting).toBe(101);
    for (const controller of controllers) controller.abort();
    expect(pacer.rateLimits().policies.default?.waiting).toBe(1);
    await clock.run(100);
    expect(granted).toEqual(["stays"]);
    expect(clock.pending).toBe(0);
  });

  it("leaves no timer when all calls have left", async () => {
    const { clock, join } = await emptied();
    const controller = new AbortController();
    for (const name of ["a", "b"]) join(name, "low", { signal: controller.signal });
    expect(clock.pending).toBeGreaterThan(0);
    controller.abort();
    expect(clock.pending).toBe(0);
  });

  it("releases a high-priority call before 2,000 low-priority ones, within two tokens", async () => {
    const { clock, granted, join } = await emptied();
    for (let index = 0; index < 2_000; index += 1) join("low", "low");
    await clock.run(1_000);
    const before = granted.length;
    join("high", "high");
    await clock.run(1_040);
    expect(granted.slice(before)).toContain("high");
  });
});

describe("the queues of calls that draw from different policies", () => {
  it("release calls by priority and arrival, across the queues", async () => {
    const { clock, pacer, granted, join } = await emptied();
    const joinUpload = (name: string, priority: Priority) =>
      pacer.acquire(upload, priority, new CancelScope(clock, undefined, undefined)).then((held) => {
        granted.push(name);
        pacer.forget(held);
      });
    for (let index = 0; index < 5; index += 1) {
      void joinUpload("sync", "low");
      join("order", "normal");
    }
    void joinUpload("design", "high");
    await clock.run(1_000);
    expect(granted).toEqual([
      "design",
      ...Array.from({ length: 5 }, () => "order"),
      ...Array.from({ length: 5 }, () => "sync"),
    ]);
  });

  it("do not starve each other", async () => {
    const { clock, pacer, granted, join } = await emptied();
    for (let index = 0; index < 100; index += 1) {
      void pacer
        .acquire(upload, "normal", new CancelScope(clock, undefined, undefined))
        .then((held) => pacer.forget(held));
    }
    await clock.run(100);
    join("read");
    for (let index = 0; index < 100; index += 1) {
      void pacer
        .acquire(upload, "normal", new CancelScope(clock, undefined, undefined))
        .then((held) => pacer.forget(held));
    }
    await clock.run(2_200);
    expect(granted).toEqual(["read"]);
  });
});

describe("a refusal", () => {
  it("holds its policy, sibling calls included, until Retry-After", async () => {
    const { clock, pacer, granted, join } = await emptied();
    pacer.refuse(get, pacer.takeAnyway(get), headers('"default";q=300;w=6', '"default";r=0;t=1'), { ms: 2_000 });
    for (const name of ["a", "b"]) join(name);
    await clock.run(1_990);
    expect(granted).toEqual([]);
    await clock.run(2_300);
    expect(granted).toEqual(["a", "b"]);
  });

  it("of an empty uploads bucket does not delay a read", async () => {
    const clock = createTimeline();
    const pacer = new Pacer(clock);
    const policies = '"default";q=3000;w=60, "uploads";q=5000;w=86400';
    const response = headers(policies, '"default";r=2998;t=0, "uploads";r=0;t=17');
    const grant = pacer.takeAnyway(upload);
    expect(pacer.refuse(upload, grant, response, { ms: 17_000 })).toEqual(["uploads"]);
    expect(pacer.tryAcquire(upload)).toBeUndefined();
    expect(pacer.tryAcquire(get)).toBeDefined();
  });

  it.each([
    ["the policy that it does not report, when the other one has tokens", '"default";r=2998;t=0', ["uploads"]],
    ["all policies without a reported level", "", ["default", "uploads"]],
    ["all policies when each has tokens", '"default";r=2998;t=0, "uploads";r=4000;t=0', ["default", "uploads"]],
  ])("holds %s", (_, levels, held) => {
    const pacer = new Pacer(createTimeline());
    const response = headers('"default";q=3000;w=60, "uploads";q=5000;w=86400', levels);
    expect(pacer.refuse(upload, pacer.takeAnyway(upload), response, { ms: 17_000 })).toEqual(held);
    expect(pacer.tryAcquire(get) === undefined).toBe(held.includes("default"));
  });
});

describe("rate limits that are old", () => {
  async function heard() {
    const clock = createTimeline();
    const pacer = new Pacer(clock);
    const grant = pacer.takeAnyway(get);
    pacer.observe(get, grant, headers('"default";q=3000;w=60', '"default";r=2999;t=0'));
    return { clock, pacer };
  }

  it("release a part of the bucket in the first second, and the rest later when no response has come", async () => {
    const { clock, pacer } = await heard();
    await clock.run(600_000);
    const burst = () =>
      Array.from({ length: 1_000 }, () => pacer.tryAcquire(get)).filter((grant) => grant !== undefined);
    let first = 0;
    for (let step = 0; step < 4; step += 1) {
      first += burst().length;
      await clock.run(600_000 + 100 * (step + 1));
    }
    expect(first).toBeGreaterThan(100);
    // A quarter of the bucket at the end of the first second.
    expect(first).toBeLessThan(3_000 / 4);
    await clock.run(601_001);
    const rest = [];
    for (let step = 1; rest.length < 1_000 && step < 10; step += 1) {
      rest.push(...burst());
      await clock.run(601_001 + 100 * step);
    }
    expect(rest.length).toBeGreaterThan(1_000);
  });

  it("do not limit a burst while other responses keep reporting the level", async () => {
    const { clock, pacer } = await heard();
    for (let sent = 0; sent < 15; sent += 1) {
      await clock.run(clock.now() + 100);
      const grant = pacer.tryAcquire(get);
      if (grant === undefined) throw new Error("The bucket has tokens.");
      pacer.observe(get, grant, headers('"default";q=300;w=6', '"default";r=299;t=0'));
    }
    const burst = Array.from({ length: 40 }, () => pacer.tryAcquire(get));
    expect(burst.filter((grant) => grant === undefined)).toEqual([]);
  });

  it("let only a few calls meet an empty bucket that other clients have used meanwhile", async () => {
    const clock = createTimeline();
    const pacer = new Pacer(clock);
    const service = createService(clock, { default: [300, 6_000] });
    const traffic = { clock, pacer, serve: () => service.serve(["default"]), latency: () => [20, 20] as const };
    for (let sent = 0; sent < 5; sent += 1) {
      consume({ ...traffic, calls: 1, parallel: 1 });
      await clock.run(clock.now() + 1_000);
    }
    service.drain("default", 300);
    const burst = consume({ ...traffic, calls: 60, parallel: 60 });
    await clock.run(60_000);
    expect(burst.served).toHaveLength(60);
    // A 32nd of the expected level.
    expect(burst.refusals).toBeLessThanOrEqual(10);
  });

  it("release one call alone after a refusal", async () => {
    const { clock, pacer } = await heard();
    pacer.refuse(get, pacer.takeAnyway(get), headers('"default";q=3000;w=60', '"default";r=2998;t=0'), { ms: 2_000 });
    await clock.run(2_000);
    expect(pacer.tryAcquire(get)).toBeDefined();
    expect(pacer.tryAcquire(get)).toBeUndefined();
  });
});

describe("the estimated wait", () => {
  it("is 0 for the calls of a full bucket, and one token interval for each further call and for the token that stays", async () => {
    const clock = createTimeline();
    const pacer = new Pacer(clock);
    expect(pacer.rateLimits().estimate(3_000)).toBe(0);
    expect(pacer.rateLimits().estimate(3_050)).toBeCloseTo(1_020);
  });

  it("includes waiting calls and a hold", async () => {
    const { pacer, join } = await emptied();
    for (let index = 0; index < 10; index += 1) join("waiting", "low");
    expect(pacer.rateLimits().estimate(40)).toBeCloseTo(1_000, -2);
    pacer.refuse(get, pacer.takeAnyway(get), new Headers(), { ms: 5_000 });
    expect(pacer.rateLimits().estimate(1)).toBeGreaterThanOrEqual(5_000);
  });

  it("is a function beside the record of the policies, which contains only policies", () => {
    const limits = new Pacer(createTimeline()).rateLimits();
    expect(Object.keys(limits)).toEqual(["policies", "estimate"]);
    expect(Object.keys(limits.policies)).toEqual(["default", "uploads", "downloads"]);
  });
});

describe("a client before its first response", () => {
  it("sends a few more calls each second until the first response arrives", async () => {
    const clock = createTimeline();
    const pacer = new Pacer(clock);
    const going = () => {
      let count = 0;
      while (pacer.tryAcquire(get) !== undefined) count += 1;
      return count;
    };
    const sent: number[] = [];
    for (let second = 0; second < 4; second++) {
      await clock.run(second * 1_000);
      sent.push(going());
    }
    expect(sent).toEqual([1, 1, 2, 4]);
  });

  it("continues at the refill rate when its first request is refused, and leaves one token to other clients", async () => {
    const clock = createTimeline();
    const service = createService(clock, { default: [3_000, 60_000], uploads: [5_000, 86_400_000] });
    service.drain("uploads", 5_000);
    const serve = () => service.serve(["default", "uploads"]);
    const uploads = consume({
      clock,
      pacer: new Pacer(clock),
      serve,
      calls: 3,
      parallel: 3,
      latency: () => [5, 5],
      call: "images.upload",
    });
    await clock.run(120_000);
    expect(uploads.served.map(({ at }) => Math.floor(at / 1_000))).toEqual([34, 51, 69]);
    expect(uploads.refusals).toBe(1);
  });
});

describe("the order of waiting calls", () => {
  it("includes all priorities: urgent calls starve neither normal nor low ones", async () => {
    const { clock, granted, join } = await emptied();
    for (let index = 0; index < 400; index++)
      for (const priority of ["high", "normal", "low"] as const) join(priority, priority);
    await clock.run(6_500);
    const count = (priority: Priority) => granted.filter((name) => name === priority).length;
    // Every eighth turn goes to the lower priorities.
    expect(granted.slice(0, 160).filter((name) => name !== "high")).toHaveLength(20);
    expect(Math.abs(count("normal") - count("low"))).toBeLessThan(3);
  });

  it("is the order of the refusals for calls that were refused", async () => {
    const { clock, granted, join } = await emptied();
    for (const name of ["a", "b", "c"]) join(name, "normal", { again: true });
    await clock.run(1_000);
    expect(granted).toEqual(["a", "b", "c"]);
  });
});

describe("the place of a call in the queue", () => {
  it("is behind the calls of its kind that joined before", () => {
    const queues = new WaitQueues();
    const queue = queues.of(["default"]);
    const nothing = () => undefined;
    const join = (retried: boolean, urgent = false) =>
      queues.join(queue, {
        ...{ call: "a", priority: "normal", maxRetryAfter: 1, grant: nothing, reject: nothing },
        retried,
        urgent,
      });
    const [first, second, refused, again] = [join(false), join(false), join(true), join(true)];
    const places = [first, second, refused, again].map((waiter) => queues.rank(waiter, "default"));
    expect(places).toEqual([3, 4, 1, 2]);
    expect(queues.rank(join(false, true), "default")).toBe(1);
  });
});
