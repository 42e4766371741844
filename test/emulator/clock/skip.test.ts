import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigurationError, PodPartner, RequestTimeoutError } from "pod-partner";
import { createEmulator, type EmulatorOptions, startEmulator, validOrder, validRender } from "pod-partner/testing";
import { describe, expect, it } from "vitest";

const hour = 3_600_000;

const setUp = (options: EmulatorOptions = {}) => {
  const emulator = createEmulator({ clock: "skip", ...options });
  const partner = new PodPartner(emulator.clientOptions);
  const begun = emulator.clock.now();
  const order = validOrder(emulator, { customIdentifier: "shop-1", shippingKind: "combined" });
  return { emulator, partner, order, passed: () => emulator.clock.now() - begun };
};

/** Runs the work. Fails if it takes more than 20 s of real time, less than what it waits for. */
const soon = async <T>(work: Promise<T>): Promise<T> => {
  const late = Symbol("late");
  const limit = new AbortController();
  const first = await Promise.race([work, sleep(20_000, late, { signal: limit.signal })]);
  limit.abort();
  if (typeof first === "symbol") throw new Error("It takes real time");
  return first as T;
};

describe("a clock that skips", { timeout: 30_000 }, () => {
  it("begins on a Monday, and stands still while nothing waits", async () => {
    const { emulator, partner } = setUp({ seed: { orders: 1 } });
    await sleep(20);
    expect(new Date(emulator.clock.now()).toISOString()).toBe("2026-11-02T09:00:00.000Z");
    await partner.orders.list().toArray();
    await sleep(20);
    expect(new Date(emulator.clock.now()).toISOString()).toBe("2026-11-02T09:00:00.000Z");
  });

  it("skips the pause after a 500", async () => {
    const { emulator, partner, order, passed } = setUp();
    emulator.faults.add({ on: "orders.create", nth: (n) => n <= 2, fault: "status", status: 500, when: "before" });
    await soon(partner.orders.ensure(order));
    expect(emulator.requests.where({ on: "orders.create", status: 500 })).toHaveLength(2);
    expect(passed()).toBeGreaterThan(250);
    expect(passed()).toBeLessThan(60_000);
  });

  it("waits as long as Retry-After says, and no longer", async () => {
    const { emulator, partner, order, passed } = setUp();
    const refusal = { fault: "status", status: 429, code: "rate_limited", retryAfter: 40_000, when: "before" } as const;
    emulator.faults.add({ on: "orders.create", nth: 1, ...refusal });
    await soon(partner.orders.create(order, { deadline: 120_000 }));
    expect(passed()).toBeGreaterThanOrEqual(40_000);
    expect(passed()).toBeLessThan(60_000);
  });

  it("skips a render of an hour", async () => {
    const { emulator, partner, passed } = setUp({ renderDuration: hour });
    const { reference } = await partner.renders.create(validRender(emulator));
    expect((await soon(partner.renders.wait(reference, { deadline: 2 * hour }))).status).toBe("completed");
    expect(passed()).toBeGreaterThanOrEqual(hour);
    expect(passed()).toBeLessThan(1.5 * hour);
  });

  it("ends a call at its time limit", async () => {
    const { emulator, partner, passed } = setUp();
    emulator.faults.add({ on: "rendertokens.get", fault: "slow", ms: hour });
    const call = soon(partner.rendertokens.get({ timeout: 5_000, retry: false }));
    await expect(call).rejects.toThrow(RequestTimeoutError);
    expect(passed()).toBe(5_000);
  });

  it("receives a response that comes after a minute", async () => {
    const { emulator, partner, order, passed } = setUp();
    emulator.faults.add({ on: "orders.create", fault: "slow", ms: 50_000 });
    await soon(partner.orders.create(order, { timeout: 55_000, deadline: 58_000 }));
    expect(passed()).toBe(50_000);
  });

  it("lets each of two clients wait for its own time", async () => {
    const { emulator, partner, order } = setUp();
    const other = new PodPartner(emulator.clientOptions);
    emulator.faults.add({ on: "orders.create", fault: "slow", ms: 20_000 });
    emulator.faults.add({ on: "orders.list", fault: "slow", ms: 10_000 });
    const ends: [string, number][] = [];
    const begun = emulator.clock.now();
    const note = (name: string) => () => void ends.push([name, emulator.clock.now() - begun]);
    await soon(
      Promise.all([
        partner.orders.create(order).then(note("create")),
        other.orders.list().toArray().then(note("list")),
      ]),
    );
    expect(ends).toEqual([
      ["list", 10_000],
      ["create", 20_000],
    ]);
  });

  it("does not wait for a program's own real time, and passes no time for it", async () => {
    const { emulator, partner, order, passed } = setUp();
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "status", status: 503, when: "before" });
    const own = sleep(3_000, "own");
    const first = await Promise.race([partner.orders.ensure(order).then(() => "order"), own]);
    expect(first).toBe("order");
    const after = passed();
    await own;
    expect(passed()).toBe(after);
  });

  it("stands still while files are read", async () => {
    const { emulator, passed } = setUp();
    let isDone = false;
    const timer = new Promise<boolean>(
      (resolve) => void emulator.clientOptions.clock?.after(hour, () => resolve(isDone)),
    );
    const readOften = async () => {
      for (let read = 0; read < 30; read += 1) await readFile(import.meta.filename);
    };
    await Promise.all(Array.from({ length: 8 }, readOften));
    isDone = true;
    expect(passed()).toBe(0);
    expect(await soon(timer)).toBe(true);
  });

  it("leaves nothing behind after an abort", async () => {
    const { emulator, partner, order, passed } = setUp();
    emulator.faults.add({ on: "orders.create", fault: "stall" });
    const abort = new AbortController();
    const call = partner.orders.create(order, { signal: abort.signal });
    abort.abort();
    await expect(call).rejects.toThrow();
    await sleep(30);
    const after = passed();
    expect(after).toBeLessThan(60_000);
    await sleep(30);
    expect(passed()).toBe(after);
  });

  it("gives the receiver of a callback its real time", async () => {
    const server = createServer((_, response) => void sleep(60).then(() => response.writeHead(204).end()));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const { emulator, partner, order, passed } = setUp({ callbackUrl: `http://127.0.0.1:${port}/callback` });
    const { reference } = await partner.orders.create(order);
    emulator.ship(reference);
    await emulator.callbacks.idle();
    server.close();
    expect(emulator.callbacks.list().map(({ status }) => status)).toEqual(["delivered"]);
    expect(passed()).toBe(0);
  });

  it("is refused by an emulator on a port, and for another word", async () => {
    await expect(startEmulator({ clock: "skip" })).rejects.toThrow(/clock.*createEmulator/s);
    const wrong: object = { clock: "jump" };
    expect(() => createEmulator(wrong)).toThrow(ConfigurationError);
  });
});
