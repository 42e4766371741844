import { setTimeout as sleep } from "node:timers/promises";
import { PodPartner } from "pod-partner";
import {
  type SimulatedProgram,
  type SimulatedWorld,
  type SimulateOptions,
  SimulationError,
  simulate,
} from "pod-partner/testing";
import { expect, it } from "vitest";
import { careful, forgetful, ordersOf, partnerOf, twoOrders } from "./programs.ts";

const failureOf = async (program: SimulatedProgram, options: SimulateOptions = {}): Promise<SimulationError> => {
  const error = await simulate(program, { setUp: twoOrders, ...options }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SimulationError)) throw new Error(`It did not break: ${String(error)}`);
  return error;
};

it("finds nothing in a program that shares a storage", async () => {
  const report = await simulate(careful, { setUp: twoOrders, schedules: 12 });
  expect(report.schedules).toBe(12);
  expect(report.operations.request).toBe(4);
  expect(report.operations.storage).toBeGreaterThan(4);
});

it("ends when a creation takes time, and when a response of the emulator is slow", async () => {
  const setUp = async (world: SimulatedWorld) => {
    await twoOrders(world);
    world.emulator.faults.add({ on: "orders.create", fault: "slow", ms: 4_000 });
  };
  const emulator = { assumptions: { creationTime: 5_000 } };
  const report = await simulate(careful, { setUp, emulator, schedules: 12 });
  expect(report.schedules).toBe(12);
});

it("finds that a program without a storage orders twice, and tells why in a few events", {
  timeout: 300_000,
}, async () => {
  const error = await failureOf(forgetful, { seed: 6, schedules: 60 });
  expect(error.findings[0]?.text).toMatch(/^made twice: shop-\d$/);
  expect(error.schedule.events.length).toBeLessThanOrEqual(2);
  expect(error.schedule.events.map(({ fault }) => fault)).toContain("kill");
  expect(error.message).toContain("the program, life 2");
  expect(error.message).toContain("✗ the program is killed while the service works on it");
  expect(error.message).toContain(`replay: ${JSON.stringify(error.replay)}`);
});

it("replays a schedule with the same trace each time", async () => {
  const replay = "3 r2:late r2:kill";
  const traces = [];
  for (let round = 0; round < 3; round += 1) traces.push((await failureOf(forgetful, { replay })).trace);
  expect(traces[0]).toEqual(traces[1]);
  expect(traces[1]).toEqual(traces[2]);
});

it("finds an identifier that is new at each try, by the loss of one response", async () => {
  const error = await failureOf(async (world) => {
    const partner = partnerOf(world);
    for (const order of await ordersOf(world)) {
      if ((await world.database.get("placed", order.customIdentifier)) !== undefined) continue;
      const { reference } = await partner.orders.create({ ...order, customIdentifier: crypto.randomUUID() });
      await world.database.put("placed", order.customIdentifier, reference);
    }
  });
  expect(error.schedule.events).toHaveLength(1);
  expect(error.findings[0]?.kind).toBe("doubled");
});

it("finds a program that orders twice without any fault", async () => {
  const error = await failureOf(async (world) => {
    for (const order of await ordersOf(world)) {
      for (const quantity of [1, 2]) {
        const orderlines = order.orderlines.map((line) => ({ ...line, quantity }));
        await new PodPartner(world.clientOptions).orders.create({ ...order, orderlines });
      }
    }
  });
  expect(error.schedule.events).toEqual([]);
  expect(error.findings).toEqual([{ kind: "doubled", text: "made twice: shop-1, shop-2" }]);
});

it("runs timers, dates and random numbers of the program in virtual time, and leaves those of others alone", async () => {
  const seen: unknown[] = [];
  const began = Date.now();
  await simulate(
    async ({ clock }) => {
      const start = Date.now();
      await sleep(3_600_000);
      await new Promise((resolve) => setTimeout(resolve, 3_600_000));
      const ticks = await new Promise((resolve) => {
        let count = 0;
        const timer = setInterval(() => {
          count += 1;
          if (count < 3) return;
          clearInterval(timer);
          resolve(count);
        }, 1_000);
      });
      const signal = AbortSignal.timeout(500);
      await sleep(1_000);
      seen.push([
        Date.now() - start,
        new Date().toJSON() === new Date(clock.now()).toJSON(),
        ticks,
        signal.aborted,
        Math.random(),
      ]);
    },
    { schedules: 1 },
  );
  expect(seen[0]).toEqual([7_204_000, true, 3, true, expect.any(Number)]);
  expect(seen[1]).toEqual(seen[0]);
  expect(Date.now() - began).toBeLessThan(60_000);
});

it("never lets a killed life reach anything again, and begins the next one with what is durable", async () => {
  let notes: unknown;
  await simulate(
    async (world) => {
      const { database, life } = world;
      setTimeout(() => void database.put("notes", `timer of ${life}`, life), 500);
      await new PodPartner(world.clientOptions).organization.stores.list();
      await database.put("notes", `life ${life}`, life);
      await world.sleep(60_000);
    },
    {
      replay: "1 r1:kill",
      check: async ({ database }) => {
        notes = await database.all("notes");
      },
    },
  );
  expect(notes).toEqual([2, 2]);
});

it("stands still while it is suspended", async () => {
  let seen: unknown;
  await simulate(
    async (world) => {
      const began = world.clock.now();
      const ticks: number[] = [];
      const timer = setInterval(() => ticks.push(world.clock.now() - began), 10_000);
      await new PodPartner(world.clientOptions).organization.stores.list();
      await world.sleep(15_000);
      clearInterval(timer);
      await world.database.put("ticks", "all", ticks);
    },
    {
      replay: "1 r1:suspend",
      check: async ({ database }) => {
        seen = await database.get("ticks", "all");
      },
    },
  );
  const [first = 0, second = 0, ...others] = seen as number[];
  // What was due in the meantime comes once.
  expect(first).toBeGreaterThan(30_000);
  expect([second - first, others]).toEqual([10_000, []]);
});

it("reports a program that does not end", async () => {
  const waits = await failureOf(() => new Promise(() => {}));
  expect(waits.findings).toEqual([
    {
      kind: "unfinished",
      text: expect.stringContaining("the program, life 1 did not end within a week of virtual time: let a worker end"),
    },
  ]);
  const gives = await failureOf(
    async (world) => {
      await new PodPartner({ ...world.clientOptions, retry: false }).organization.stores.list();
      if (world.life > 1) throw new Error("I never recover");
    },
    { lives: 3, replay: "1 r1:lost" },
  );
  expect(gives.findings[0]?.text).toBe("the program did not end in 3 lives");
  expect(gives.story).toContain("fails: Error: I never recover");
});

it("reports a program that fails without a fault", async () => {
  const error = await failureOf(async ({ database }) => {
    await database.get("mails", "it fails: text");
    throw new Error("no orders");
  });
  expect(error.findings).toEqual([{ kind: "failed", text: "it fails without a fault: no orders" }]);
  expect(error.trace.filter(({ kind }) => kind === "failure").map(({ text }) => text)).toEqual([
    "the program fails: Error: no orders",
  ]);
  expect(error.replay).toBe("1");
});

it.each<readonly [place: string, fail: (work: () => never) => unknown]>([
  ["a promise", (work) => void Promise.resolve().then(work)],
  ["a timer", (work) => setTimeout(work, 10)],
  ["a tick", (work) => process.nextTick(work)],
  ["a turn of the event loop", (work) => setImmediate(work)],
  ["a microtask", (work) => queueMicrotask(work)],
])("reports an error of %s that nothing catches, with the life that it ends", async (_, fail) => {
  const error = await failureOf(async ({ sleep }) => {
    fail(() => {
      throw new Error("nobody caught it");
    });
    await sleep(1_000);
  });
  expect(error.findings).toEqual([{ kind: "failed", text: "it fails without a fault: nobody caught it" }]);
  expect(error.story).toContain("fails: Error: nobody caught it");
});

it("begins the next life after a rejection that nothing catches", async () => {
  const lives: unknown[] = [];
  await simulate(
    async ({ clientOptions, life, sleep }) => {
      void new PodPartner({ ...clientOptions, retry: false }).organization.stores.list();
      await sleep(60_000);
      lives.push(life);
    },
    { replay: "1 r1:lost" },
  );
  // The program ends twice without a fault.
  expect(lives).toEqual([1, 1, 2]);
});

it("names each of several programs, also when they share a function", async () => {
  const worker: SimulatedProgram = async ({ clientOptions }) => {
    await new PodPartner(clientOptions).organization.stores.list();
    throw new Error("no orders");
  };
  const several = await simulate([worker, worker, async () => {}]).catch((thrown: unknown) => thrown);
  expect(several).toBeInstanceOf(SimulationError);
  expect(String(several)).toMatch(/worker 1, life 1\n[\s\S]*worker 2, life 1\n/);
});

it("refuses invalid options before it runs anything", async () => {
  const refused = (options: object) => expect(simulate(careful, options)).rejects;
  await refused({ schedules: 0 }).toThrow("schedules");
  await refused({ schedule: 1 }).toThrow("schedule: is an unknown option");
  await refused({ replay: "1 r2:lightning" }).toThrow('has "r2:lightning"');
  await expect(simulate([])).rejects.toThrow("program: expected a function");
});
