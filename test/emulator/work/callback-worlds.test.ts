import { setImmediate } from "node:timers/promises";
import { PodPartner } from "pod-partner";
import { createOrderUpdatedReceiver } from "pod-partner/callbacks";
import { createEmulator, createManualClock, type Emulator, startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { placeOrder, setUp } from "../support.ts";
import { startReceiver } from "./callback-receiver.ts";

const shopUrl = "http://shop.test/callback";

/** A receiver without a port, which responds when the test says so, and notes the time of each callback. */
function handReceiver(time: () => number) {
  const open: PromiseWithResolvers<Response>[] = [];
  const times: string[] = [];
  return {
    times,
    open,
    fetch: () => {
      times.push(new Date(time()).toISOString().slice(11, 19));
      const response = Promise.withResolvers<Response>();
      open.push(response);
      return response.promise;
    },
  };
}

describe("moving the clock", () => {
  it("waits for the deliveries in progress before it moves, and for those on the way", async () => {
    const receiver = handReceiver(() => emulator.clock.now());
    const bench = setUp({ callbackUrl: shopUrl, callbacks: { fetch: receiver.fetch } });
    const { emulator } = bench;
    emulator.ship(await placeOrder(bench));
    let moved = false;
    const move = emulator.clock.advance({ minutes: 20 }).then(() => {
      moved = true;
    });
    for (const status of [500, 500, 200]) {
      await expect.poll(() => receiver.open.length).toBe(1);
      for (let turn = 0; turn < 10; turn += 1) await setImmediate();
      expect(moved).toBe(false);
      receiver.open.shift()?.resolve(new Response(null, { status }));
    }
    await move;
    expect(receiver.times).toEqual(["09:00:00", "09:05:00", "09:10:00"]);
    expect(new Date(emulator.clock.now()).toISOString()).toBe("2026-11-02T09:20:00.000Z");
  });

  it("runs callbacks that a handler causes by another shipment, at the same time", async () => {
    const bench = setUp({ callbackUrl: shopUrl, callbacks: { fetch: (request) => handle(request) } });
    const { emulator } = bench;
    const times: number[] = [];
    const orders = [await placeOrder(bench), await placeOrder(bench)];
    const handle = async (_request: Request) => {
      times.push(emulator.clock.now());
      if (times.length === 1) return new Response(null, { status: 503 });
      const [next] = orders.splice(0, 1);
      if (next !== undefined) emulator.ship(next);
      return new Response();
    };
    const start = emulator.clock.now();
    emulator.ship(orders.splice(0, 1)[0] ?? []);
    await emulator.clock.advance({ minutes: 6 });
    expect(times.map((time) => time - start)).toEqual([0, 300_000, 300_000]);
  });

  it("waits for three time-outs of a receiver that never responds, and calls it again in the next move", async () => {
    let calls = 0;
    const never = () => {
      calls += 1;
      return new Promise<Response>(() => {});
    };
    const bench = setUp({ callbackUrl: shopUrl, callbacks: { fetch: never } });
    const { emulator, clock } = bench;
    const orders = await Promise.all(Array.from({ length: 40 }, () => placeOrder(bench)));
    for (const order of orders) emulator.ship(order);
    let moved = false;
    const move = emulator.clock.advance({ hours: 12 }).then(() => {
      moved = true;
    });
    for (let turn = 0; turn < 6; turn += 1) {
      for (let settled = 0; settled < 20; settled += 1) await setImmediate();
      await clock.advance(10_000);
    }
    await expect.poll(() => moved).toBe(true);
    await move;
    expect(calls).toBeLessThanOrEqual(32 * 4);
    expect(emulator.callbacks.list()[0]?.tries.at(-1)?.error).toMatch(/^not sent/);
    const before = calls;
    const again = emulator.clock.advance({ minutes: 5 });
    await expect.poll(() => calls).toBeGreaterThan(before);
    emulator.reset();
    await expect(again).rejects.toThrow("was replaced");
  });

  it("repeats a postponed callback by itself at a speed, and not while it is frozen", async () => {
    await using receiver = await startReceiver(500);
    const bench = setUp({ callbackUrl: receiver.url });
    const { emulator, clock } = bench;
    emulator.ship(await placeOrder(bench));
    await emulator.callbacks.idle();
    emulator.clock.freeze();
    await clock.advance(600_000);
    expect(receiver.received).toHaveLength(1);
    emulator.clock.resume({ speed: 60 });
    await clock.advance(5_000);
    await emulator.callbacks.idle();
    expect(receiver.received).toHaveLength(2);
  });
});

describe("a world that was saved with callbacks", () => {
  const another = (fetch: () => Promise<Response>): Emulator =>
    createEmulator({ clock: createManualClock("2030-01-01"), callbacks: { fetch } });

  it("repeats the postponed ones in the emulator that loads it, at the same times", async () => {
    const bench = setUp({
      callbackUrl: shopUrl,
      callbacks: { fetch: () => new Response(null, { status: 503 }) },
    });
    const { emulator } = bench;
    emulator.ship(await placeOrder(bench));
    await emulator.clock.advance({ minutes: 7 });
    const saved = JSON.parse(JSON.stringify(emulator.world()));
    const receiver = handReceiver(() => other.clock.now());
    const other = another(receiver.fetch);
    other.load(saved);
    expect(other.world()).toEqual(saved);
    const move = other.clock.advance({ minutes: 4 });
    await expect.poll(() => receiver.open.length).toBe(1);
    receiver.open[0]?.resolve(new Response());
    await move;
    await emulator.clock.advance({ minutes: 4 });
    expect(receiver.times).toEqual(["09:10:00"]);
    const triesOf = (given: Emulator) => given.callbacks.list().map(({ tries }) => tries.map(({ at }) => at));
    expect(triesOf(other)).toEqual(triesOf(emulator));
  });

  it("sends the one that was being delivered again, also while the clock is frozen", async () => {
    const before = handReceiver(() => 0);
    const bench = setUp({ callbackUrl: shopUrl, callbacks: { fetch: before.fetch } });
    bench.emulator.clock.freeze();
    bench.emulator.ship(await placeOrder(bench));
    const saved = bench.emulator.world();
    const receiver = handReceiver(() => other.clock.now());
    const clock = createManualClock();
    const other = createEmulator({ clock, callbacks: { fetch: receiver.fetch } });
    other.load(saved);
    await clock.advance(0);
    receiver.open[0]?.resolve(new Response());
    await other.callbacks.idle();
    expect(other.callbacks.list()).toMatchObject([{ status: "delivered", tried: 1 }]);
  });

  it("forgets what happens to a delivery after a reset or a rewind", async () => {
    const receiver = handReceiver(() => 0);
    const bench = setUp({ callbackUrl: shopUrl, callbacks: { fetch: receiver.fetch } });
    const { emulator } = bench;
    const order = await placeOrder(bench);
    emulator.checkpoint();
    emulator.ship(order);
    await setImmediate();
    emulator.rewind();
    receiver.open[0]?.resolve(new Response());
    await emulator.callbacks.idle();
    expect(emulator.callbacks.list()).toEqual([]);
    emulator.ship(order);
    await setImmediate();
    emulator.reset();
    await emulator.clock.advance({ days: 1 });
    expect([emulator.callbacks.list(), receiver.open.length]).toEqual([[], 2]);
    expect(emulator.world().organizations[0]?.stores[0]?.callbackUrl).toBe(shopUrl);
  });
});

it("the controls over HTTP set the URL, wait for callbacks, list them and send them again", async () => {
  await using receiver = await startReceiver();
  await using emulator = await startEmulator({ seed: { orders: 1 } });
  const control = async (name: string, input: unknown = {}) => {
    const body = JSON.stringify(input);
    const url = new URL(`/_emulator/${name}`, emulator.baseUrl);
    const response = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    return ((await response.json()) as { result: unknown }).result;
  };
  const [order] = emulator.world().organizations[0]?.orders ?? [];
  expect(await control("setCallbackUrl", { store: order?.storeReference, url: receiver.url })).toBeNull();
  await control("ship", { orders: order?.reference });
  await control("callbacks.idle");
  await control("callbacks.resend", { id: 1 });
  await control("callbacks.idle");
  expect(await control("callbacks.list")).toMatchObject([
    { id: 1, orderReference: order?.reference, status: "delivered", tries: [{ status: 204 }, { status: 204 }] },
  ]);
  expect(receiver.received).toHaveLength(2);
});

it("a receiver of the SDK gets the callbacks without a port, and again after its handler failed", async () => {
  const bench = setUp({
    callbackUrl: "https://shop.test/callback?token=0123456789abcdef",
    callbacks: { fetch: (request) => receiver.fetch(request) },
  });
  const { baseUrl, secretKey, fetch } = bench.emulator;
  const handled: unknown[] = [];
  const receiver = createOrderUpdatedReceiver({
    partner: new PodPartner({ baseUrl, secretKey, fetch, clock: bench.clock }),
    token: "0123456789abcdef",
    onError: () => {},
    onOrderUpdated: ({ orderReference, customIdentifier, storeCode, environment }) => {
      handled.push({ orderReference, customIdentifier, storeCode, environment });
      if (handled.length === 1) throw new Error("The database is down");
    },
  });
  const orderReference = await placeOrder(bench, { customIdentifier: "shop-7" });
  bench.emulator.ship(orderReference);
  await bench.emulator.clock.advance({ minutes: 5 });
  const news = { orderReference, customIdentifier: "shop-7", storeCode: "DEMO", environment: "test" };
  expect(handled).toEqual([news, news]);
  const [callback] = bench.emulator.callbacks.list();
  expect(callback?.tries.map(({ status }) => status)).toEqual([503, 204]);
  await receiver.close();
});
