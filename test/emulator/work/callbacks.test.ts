import { createEmulator, type SentCallback, startEmulator } from "pod-partner/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { placeOrder, setUp } from "../support.ts";
import { startReceiver } from "./callback-receiver.ts";

const at = (ms: number) => new Date(ms).toISOString();
const outcomes = ({ tries }: SentCallback) => tries.map(({ status, error }) => status ?? error);

describe("the callback of an order that ships", () => {
  it("is sent for each shipment of a part", async () => {
    await using receiver = await startReceiver();
    const bench = setUp({ callbackUrl: receiver.url });
    const { emulator } = bench;
    const order = await placeOrder(bench);
    emulator.ship(order, { lines: [{ index: 1, quantity: 1 }] });
    await emulator.callbacks.idle();
    emulator.ship(order);
    await emulator.callbacks.idle();
    expect(receiver.orders()).toEqual([order, order]);
  });
});

describe("a callback without a 2xx response", () => {
  it.each([
    ["a status", [503, 503]],
    ["a redirect", [{ status: 302, headers: { Location: "/elsewhere" } }, 302]],
    ["a broken connection", ["drop", "UND_ERR_SOCKET"]],
  ] as const)("after %s is repeated 5 minutes later by the emulator's clock", async (_name, [reply, outcome]) => {
    await using receiver = await startReceiver(reply, 500);
    const bench = setUp({ callbackUrl: receiver.url });
    const { emulator } = bench;
    const order = await placeOrder(bench);
    emulator.ship(order);
    await emulator.callbacks.idle();
    expect(emulator.callbacks.list()).toMatchObject([{ status: "waiting", tried: 1 }]);
    await emulator.clock.advance({ minutes: 4, seconds: 59 });
    expect(receiver.received).toHaveLength(1);
    await emulator.clock.advance(1_000);
    expect(receiver.received).toHaveLength(2);
    await emulator.clock.advance({ days: 1 });
    expect(receiver.orders()).toEqual([order, order, order]);
    const [callback] = emulator.callbacks.list();
    expect(callback).toMatchObject({ orderReference: order, status: "delivered", nextTryAt: null, tried: 3 });
    expect(callback && outcomes(callback)).toEqual([outcome, 500, 204]);
    expect(callback?.tries.map((one) => at(one.at))).toEqual([
      "2026-11-02T09:00:00.000Z",
      "2026-11-02T09:05:00.000Z",
      "2026-11-02T09:10:00.000Z",
    ]);
  });

  it("is repeated when the endpoint is unreachable, until it is back", async () => {
    const gone = await startReceiver();
    await gone.close();
    const bench = setUp({ callbackUrl: gone.url });
    const { emulator, demo } = bench;
    emulator.ship(await placeOrder(bench));
    await emulator.clock.advance({ minutes: 12 });
    const [callback] = emulator.callbacks.list();
    expect(callback && outcomes(callback)).toEqual(["ECONNREFUSED", "ECONNREFUSED", "ECONNREFUSED"]);
    expect(at(callback?.nextTryAt ?? 0)).toBe("2026-11-02T09:15:00.000Z");
    await using back = await startReceiver();
    emulator.setCallbackUrl(demo.stores.api, back.url);
    await emulator.clock.advance({ minutes: 3 });
    expect(emulator.callbacks.list()).toMatchObject([{ status: "delivered", tried: 4 }]);
  });

  it("is repeated when there is no response in time", async () => {
    await using receiver = await startReceiver("silence");
    const bench = setUp({ callbackUrl: receiver.url, callbacks: { timeout: 3_000 } });
    const { emulator, clock } = bench;
    const order = await placeOrder(bench);
    const arrival = receiver.arrival();
    emulator.ship(order);
    await arrival;
    await clock.advance(2_999);
    expect(emulator.callbacks.list()).toMatchObject([{ status: "waiting", tried: 0 }]);
    await clock.advance(1);
    await emulator.callbacks.idle();
    expect(emulator.callbacks.list()).toMatchObject([
      { status: "waiting", tries: [{ status: null, error: "no response within 3000 ms", duration: 3_000 }] },
    ]);
    await emulator.clock.advance({ minutes: 5 });
    expect(receiver.orders()).toEqual([order, order]);
    expect(clock.pending).toBe(0);
  });

  it("does not count as a timer that the client left behind", async () => {
    await using receiver = await startReceiver(500);
    const bench = setUp({ callbackUrl: receiver.url });
    bench.emulator.ship(await placeOrder(bench));
    await bench.emulator.callbacks.idle();
    expect(bench.clock.pending).toBe(0);
    bench.emulator.clock.after(1_000, () => {});
    expect(bench.clock.pending).toBe(1);
    await bench.clock.advance(300_000);
    await bench.emulator.callbacks.idle();
    expect(receiver.received).toHaveLength(2);
  });

  it("is stopped when its store has no URL any more", async () => {
    await using receiver = await startReceiver(500);
    const bench = setUp({ callbackUrl: receiver.url });
    const { emulator, demo } = bench;
    emulator.ship(await placeOrder(bench));
    await emulator.callbacks.idle();
    emulator.setCallbackUrl(demo.stores.api, null);
    await emulator.clock.advance({ days: 1 });
    expect(emulator.callbacks.list()).toMatchObject([{ status: "stopped", nextTryAt: null, tried: 1 }]);
    expect(receiver.received).toHaveLength(1);
  });

  it("has at most 20 tries in the log", async () => {
    const bench = setUp({
      callbackUrl: "http://shop.test/",
      callbacks: { fetch: () => new Response(null, { status: 503 }) },
    });
    bench.emulator.ship(await placeOrder(bench));
    await bench.emulator.clock.advance({ hours: 3 });
    const [callback] = bench.emulator.callbacks.list();
    expect([callback?.tried, callback?.tries.length]).toEqual([37, 20]);
    expect(at(callback?.tries.at(-1)?.at ?? 0)).toBe("2026-11-02T12:00:00.000Z");
  });
});

describe("sending a callback again", () => {
  it("repeats one that was delivered, and a postponed one at once", async () => {
    await using receiver = await startReceiver(500, 200, 500, 200);
    const bench = setUp({ callbackUrl: receiver.url });
    const { emulator } = bench;
    emulator.ship(await placeOrder(bench));
    await emulator.callbacks.idle();
    emulator.callbacks.resend(1);
    await emulator.callbacks.idle();
    expect(emulator.callbacks.list()).toMatchObject([{ id: 1, status: "delivered", tried: 2 }]);
    await emulator.clock.advance({ minutes: 30 });
    expect(receiver.received).toHaveLength(2);
    emulator.callbacks.resend(1);
    await emulator.callbacks.idle();
    expect(emulator.callbacks.list()).toMatchObject([{ status: "waiting", tried: 3 }]);
    await emulator.clock.advance({ minutes: 5 });
    expect(emulator.callbacks.list()).toMatchObject([{ status: "delivered", tried: 4 }]);
  });

  it("is refused for an unknown callback, and for one that is being delivered", async () => {
    const response = Promise.withResolvers<Response>();
    const bench = setUp({ callbackUrl: "http://shop.test/", callbacks: { fetch: () => response.promise } });
    const { emulator } = bench;
    expect(() => emulator.callbacks.resend(1)).toThrow("The emulator has no callback 1");
    emulator.ship(await placeOrder(bench));
    expect(() => emulator.callbacks.resend(1)).toThrow("The callback 1 is being delivered now");
    response.resolve(new Response());
    await emulator.callbacks.idle();
    expect(emulator.callbacks.list()).toMatchObject([{ status: "delivered" }]);
  });
});

it.each(["ftp://shop.test/", "shop.test/callback", "http://user:pass@shop.test/", "javascript:alert(1)"])(
  "the callback URL %s is refused",
  (url) => {
    const emulator = createEmulator();
    expect(() => emulator.setCallbackUrl(emulator.demo.stores.api, url)).toThrow("url: ");
    expect(() => createEmulator({ callbackUrl: url })).toThrow("callbackUrl");
  },
);

it("the log keeps the last 1000 callbacks that were delivered, and at most 32 are sent at the same time", async () => {
  let [running, most] = [0, 0];
  const fetch = async () => {
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
    return new Response();
  };
  const bench = setUp({ seed: { orders: 40 }, callbackUrl: "http://shop.test/", callbacks: { fetch, duplicates: 25 } });
  const { emulator } = bench;
  for (const { reference } of (await bench.get("/orders")).body.orders) emulator.ship(reference);
  await emulator.callbacks.idle();
  const log = emulator.callbacks.list();
  expect([log.length, log.at(-1)?.id, most]).toEqual([1000, 1040, 32]);
});

describe("callbacks with a limit per second", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  async function shipTen() {
    const sent: number[] = [];
    const fetch = () => {
      sent.push(Date.now());
      return new Response();
    };
    const emulator = await startEmulator({
      seed: { orders: 10 },
      callbackUrl: "http://shop.test/",
      callbacks: { fetch, perSecond: 4 },
    });
    for (const { reference } of emulator.world().organizations[0]?.orders ?? []) emulator.ship(reference);
    await vi.advanceTimersByTimeAsync(0);
    return { emulator, sent };
  }

  it("are sent one after the other, never more in any second", async () => {
    const { emulator, sent } = await shipTen();
    expect(sent).toHaveLength(4);
    await vi.advanceTimersByTimeAsync(999);
    expect(sent).toHaveLength(4);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(sent).toHaveLength(10);
    await emulator.callbacks.idle();
    expect(emulator.callbacks.list().map(({ status }) => status)).toEqual(Array(10).fill("delivered"));
    await emulator.close();
  });

  it("that wait when the emulator is closed are never sent, and leave no timer", async () => {
    const { emulator, sent } = await shipTen();
    await emulator.close();
    await emulator.callbacks.idle();
    expect([sent.length, vi.getTimerCount()]).toEqual([4, 0]);
    expect(emulator.callbacks.list().filter(({ status }) => status === "waiting")).toHaveLength(6);
  });
});

it("a closed emulator ends the delivery in progress, and repeats nothing", async () => {
  await using receiver = await startReceiver(500, "silence");
  const emulator = await startEmulator({ seed: { orders: 2 }, callbackUrl: receiver.url });
  const [first, second] = (emulator.world().organizations[0]?.orders ?? []).map(({ reference }) => reference);
  if (first === undefined || second === undefined) throw new Error("The seed has two orders");
  emulator.ship(first);
  await emulator.callbacks.idle();
  const arrival = receiver.arrival();
  emulator.ship(second);
  await arrival;
  await emulator.close();
  await emulator.clock.advance({ minutes: 10 });
  expect(emulator.callbacks.list()).toMatchObject([
    { status: "waiting", tried: 1 },
    { status: "waiting", tried: 0 },
  ]);
  expect(receiver.received).toHaveLength(2);
});
