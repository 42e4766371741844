import { expect } from "vitest";
import { startReceiver } from "../../emulator/work/callback-receiver.ts";
import { controlsOf, runControl, timeOf, tryControl } from "../support/controls.ts";
import { createRender, placeOrder } from "../support/inputs.ts";
import { type Service, startService } from "../support/service.ts";
import type { Effects } from "./effects.ts";

const orders = async (service: Service): Promise<readonly string[]> =>
  (await service.get("/orders")).body.orders.map(({ reference }: { reference: string }) => reference);

const hour = 3_600_000;

/** The effects of the controls of the clock. */
const clock: Effects = {
  "clock.advance": async () => {
    await using service = await startService();
    const render = await createRender(service);
    const before = await timeOf(service);
    await runControl(service, "clock.advance", { span: { days: 3, hours: 1 } });
    expect((await timeOf(service)) - before).toBe(73 * hour);
    expect((await service.get(`/renders/${render}`)).body.render.status).toBe("completed");
  },
  "clock.set": async () => {
    await using service = await startService({ start: "2026-06-03T10:00:00Z" });
    await runControl(service, "clock.set", { time: "2026-06-08T00:00:00+02:00" });
    expect(await timeOf(service)).toBe(Date.UTC(2026, 5, 7, 22));
    expect((await tryControl(service, "clock.set", { time: "2026-06-01T00:00:00Z" })).status).toBe(400);
  },
  "clock.freeze": async () => {
    await using service = await startService();
    const before = await timeOf(service);
    await runControl(service, "clock.freeze");
    service.clock.advance(hour);
    expect(await timeOf(service)).toBe(before);
  },
  "clock.resume": async () => {
    await using service = await startService();
    await runControl(service, "clock.freeze");
    const before = await timeOf(service);
    await runControl(service, "clock.resume", { speed: 60 });
    service.clock.advance(60_000);
    expect((await timeOf(service)) - before).toBe(hour);
  },
};

/** The effects of the controls of callbacks. */
const callbacks: Effects = {
  setCallbackUrl: async () => {
    await using service = await startService();
    await using receiver = await startReceiver();
    const store = service.demo.stores.api;
    await runControl(service, "setCallbackUrl", { store, url: receiver.url });
    const order = await placeOrder(service);
    await runControl(service, "ship", { orders: order });
    await runControl(service, "callbacks.idle");
    await runControl(service, "setCallbackUrl", { store, url: null });
    await runControl(service, "ship", { orders: await placeOrder(service) });
    await runControl(service, "callbacks.idle");
    expect(receiver.orders()).toEqual([order]);
  },
  "callbacks.list": async () => {
    await using receiver = await startReceiver(500);
    await using service = await startService({ callbackUrl: receiver.url });
    const order = await placeOrder(service);
    await runControl(service, "ship", { orders: order });
    await runControl(service, "callbacks.idle");
    const [callback, ...others] = await runControl(service, "callbacks.list");
    expect(callback).toMatchObject({ orderReference: order, status: "waiting", tried: 1, tries: [{ status: 500 }] });
    expect(others).toEqual([]);
  },
  "callbacks.resend": async () => {
    await using receiver = await startReceiver();
    await using service = await startService({ callbackUrl: receiver.url });
    const order = await placeOrder(service);
    await runControl(service, "ship", { orders: order });
    await runControl(service, "callbacks.idle");
    const [{ id }] = await runControl(service, "callbacks.list");
    await runControl(service, "callbacks.resend", { id });
    await runControl(service, "callbacks.idle");
    expect(receiver.orders()).toEqual([order, order]);
  },
  "callbacks.idle": async () => {
    await using receiver = await startReceiver();
    await using service = await startService({ callbackUrl: receiver.url });
    for (let count = 0; count < 5; count += 1) await runControl(service, "ship", { orders: await placeOrder(service) });
    await runControl(service, "callbacks.idle");
    expect(receiver.received).toHaveLength(5);
  },
};

/** The effects of the controls of worlds, callbacks, the clock and the log. */
export const effectsOnWorlds: Effects = {
  ...clock,
  ...callbacks,
  world: async () => {
    await using service = await startService();
    const order = await placeOrder(service);
    const saved = await runControl(service, "world");
    await using other = await startService();
    await runControl(other, "load", { world: saved });
    expect((await other.get(`/orders/${order}`)).body).toEqual((await service.get(`/orders/${order}`)).body);
  },
  load: async () => {
    await using service = await startService();
    const saved = await runControl(service, "world");
    await placeOrder(service);
    await runControl(service, "load", { world: saved });
    expect(await orders(service)).toEqual([]);
  },
  reset: async () => {
    await using service = await startService({ seed: { orders: 2 } });
    const before = await orders(service);
    await placeOrder(service);
    await runControl(service, "faults.add", { fault: { fault: "status", status: 503 } });
    await runControl(service, "reset");
    expect(await orders(service)).toEqual(before);
  },
  checkpoint: async () => {
    await using service = await startService();
    const first = await placeOrder(service);
    await runControl(service, "checkpoint", { name: "one order" });
    const second = await placeOrder(service);
    await runControl(service, "checkpoint", { name: "two orders" });
    await runControl(service, "rewind", { name: "one order" });
    expect(await orders(service)).toEqual([first]);
    await runControl(service, "rewind", { name: "two orders" });
    expect(await orders(service)).toEqual([second, first]);
  },
  rewind: async () => {
    await using service = await startService();
    await runControl(service, "checkpoint");
    await placeOrder(service);
    await runControl(service, "rewind");
    expect(await orders(service)).toEqual([]);
    expect((await tryControl(service, "rewind", { name: "unknown" })).body.code).toBe("refused");
  },
  "worlds.create": async () => {
    await using service = await startService();
    await placeOrder(service);
    const world = await runControl(service, "worlds.create", { name: "a", seed: { orders: 3 } });
    const { origin } = new URL(service.emulator.baseUrl);
    expect(world).toEqual({ name: "a", baseUrl: `${origin}/worlds/a/v2`, secretKey: expect.any(String) });
    const headers = { "X-Service-Secret-Key": world.secretKey };
    const response = await fetch(`${world.baseUrl}/orders`, { headers });
    expect(((await response.json()) as { orders: unknown[] }).orders).toHaveLength(3);
    expect(await orders(service)).toHaveLength(1);
    expect((await fetch(controlsOf(service, "/worlds/a"))).status).toBe(200);
  },
  "worlds.remove": async () => {
    await using service = await startService();
    const { baseUrl, secretKey } = await runControl(service, "worlds.create", { name: "a" });
    const status = async () =>
      (await fetch(`${baseUrl}/stores`, { headers: { "X-Service-Secret-Key": secretKey } })).status;
    expect(await status()).toBe(200);
    await runControl(service, "worlds.remove", { name: "a" });
    expect(await status()).toBe(404);
  },
  "worlds.list": async () => {
    await using service = await startService();
    for (const name of ["a", "b"]) await runControl(service, "worlds.create", { name });
    expect(await runControl(service, "worlds.list")).toEqual(["a", "b"]);
  },
  "requests.clear": async () => {
    await using service = await startService();
    const log = async () =>
      ((await (await fetch(`${controlsOf(service)}/requests`)).json()) as { requests: unknown[] }).requests;
    await service.get("/stores");
    expect(await log()).toMatchObject([{ method: "GET", path: "/stores", status: 200 }]);
    await runControl(service, "requests.clear");
    expect(await log()).toEqual([]);
  },
};
