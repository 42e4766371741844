import { PodPartner } from "pod-partner";
import { startEmulator, validOrder } from "pod-partner/testing";
import { expect, it } from "vitest";

it("isolated worlds of one port have their own base URL, records, faults, limits and references", async () => {
  await using emulator = await startEmulator();
  const [one, other] = [emulator.worlds.create(), emulator.worlds.create({ name: "checkout", seed: { orders: 3 } })];
  expect(emulator.worlds.names).toEqual(["1", "checkout"]);
  const origin = emulator.baseUrl.slice(0, -"/v2".length);
  expect([one.baseUrl, other.baseUrl]).toEqual([`${origin}/worlds/1/v2`, `${origin}/worlds/checkout/v2`]);
  const [first, second, main] = [one, other, emulator].map((world) => new PodPartner(world.clientOptions));
  const { reference } = (await first?.orders.create(validOrder(one))) ?? {};
  one.faults.add({ fault: "status", status: 503 });
  expect(await second?.orders.list().toArray()).toHaveLength(3);
  expect(await main?.orders.list().toArray()).toEqual([]);
  expect(one.world().organizations[0]?.orders.map((order) => order.reference)).toEqual([reference]);
  expect(one.demo.stores.api).not.toBe(other.demo.stores.api);
  expect(one.requests.length).toBe(1);
});

it("are created, controlled and removed over HTTP", async () => {
  await using emulator = await startEmulator();
  const origin = emulator.baseUrl.slice(0, -"/v2".length);
  const control = async (path: string, input: object) => {
    const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(input) };
    const response = await fetch(`${origin}${path}`, init);
    return [
      response.status,
      ((await response.json()) as { result?: { orders: { reference: string }[] } }).result,
    ] as const;
  };
  const made = { name: "a", baseUrl: `${origin}/worlds/a/v2`, secretKey: emulator.secretKey };
  expect(await control("/_emulator/worlds.create", { name: "a", seed: { orders: [{}] } })).toEqual([200, made]);
  await control("/_emulator/worlds.create", { name: "b" });
  expect(await control("/_emulator/worlds.list", {})).toEqual([200, ["a", "b"]]);
  const [, planted] = await control("/worlds/a/_emulator/seed", { orders: [{}] });
  const headers = { "X-Service-Secret-Key": emulator.secretKey };
  const path = `/orders/${planted?.orders[0]?.reference}`;
  expect((await fetch(made.baseUrl + path, { headers })).status).toBe(200);
  expect((await fetch(emulator.baseUrl + path, { headers })).status).toBe(404);
  const listed = await (await fetch(`${made.baseUrl}/orders`, { headers })).json();
  expect((listed as { orders: unknown[] }).orders).toHaveLength(2);
  expect(await control("/worlds/a/_emulator/worlds.create", {})).toEqual([400, undefined]);
  expect(await control("/_emulator/worlds.remove", { name: "a" })).toEqual([200, null]);
  expect((await fetch(made.baseUrl + path, { headers })).status).toBe(404);
  expect(await control("/worlds/a/_emulator/seed", {})).toEqual([404, undefined]);
});

it("are refused with an invalid or taken name, and above 256; a removed one frees its name", async () => {
  await using emulator = await startEmulator();
  expect(() => emulator.worlds.create({ name: "a/b" })).toThrow("A name has");
  {
    using _world = emulator.worlds.create({ name: "a" });
    expect(() => emulator.worlds.create({ name: "a" })).toThrow("There is a world a already");
  }
  for (let number = 0; number < 256; number += 1) emulator.worlds.create({ name: `world-${number}` });
  expect(() => emulator.worlds.create({ name: "a" })).toThrow("There are 256 worlds: remove one first");
  emulator.worlds.remove("world-7");
  emulator.worlds.create({ name: "a" });
  expect(() => emulator.worlds.remove("world-7")).toThrow("There is no world world-7");
});

it("get a number that is free when they have no name", async () => {
  await using emulator = await startEmulator();
  emulator.worlds.create({ name: "2" });
  expect([emulator.worlds.create().name, emulator.worlds.create().name]).toEqual(["1", "3"]);
});

it("that are removed end the streams of their pages", async () => {
  await using emulator = await startEmulator();
  const world = emulator.worlds.create();
  const events = await fetch(world.baseUrl.replace(/\/v2$/, "/_emulator/events"));
  world.remove();
  expect(await events.text()).toBe("retry: 1000\n\n");
});
