import { createEmulator, createManualClock, startEmulator, validOrder } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { rejection } from "../../support/exchange.ts";
import { type Bench, setUp } from "../support.ts";

const replaced = /The state of the emulator was replaced while the clock moved/;

/** Each way to replace the state, for a world that has a checkpoint. */
const ways: readonly [string, (bench: Bench) => void][] = [
  ["reset", ({ emulator }) => emulator.reset()],
  ["rewind", ({ emulator }) => emulator.rewind()],
  ["load", ({ emulator }) => emulator.load(emulator.world())],
];

/** Lets promises settle that need no timer. */
const turns = () => new Promise((resolve) => setTimeout(resolve, 5));

describe.each(ways)("%s during an advance", (_name, replace) => {
  it("ends it at once with an error, and the time stays that of the new state", async () => {
    const gate = Promise.withResolvers<Response>();
    const bench = setUp({
      callbackUrl: "http://shop.test/",
      callbacks: { fetch: () => gate.promise },
      seed: { orders: 1 },
    });
    const { emulator } = bench;
    emulator.checkpoint();
    const [order] = emulator.world().organizations[0]?.orders ?? [];
    emulator.ship(order?.reference ?? "Order_");
    const moves = [emulator.clock.advance({ days: 3 }), emulator.clock.advance({ days: 3 })].map(rejection);
    await turns();
    replace(bench);
    const before = emulator.clock.now();
    for (const move of moves)
      expect(await move).toMatchObject({ name: "ControlError", message: expect.stringMatching(replaced) });
    gate.resolve(new Response());
    await turns();
    expect(emulator.clock.now()).toBe(before);
    await emulator.clock.advance({ hours: 1 });
    expect(emulator.clock.now()).toBe(before + 3_600_000);
  });
});

it("a reset between two steps of an advance leaves no work of the old state", async () => {
  const bench = setUp({ seed: { orders: 3 }, automation: { production: { hours: 1 }, shipping: { hours: 1 } } });
  const { emulator } = bench;
  const start = emulator.clock.now();
  let resets = 0;
  const restart = () => {
    if (emulator.clock.now() < start + 7_200_000 || resets > 0) return;
    resets += 1;
    emulator.reset();
  };
  // The second order ships in the middle of the tasks of one moment.
  emulator.setCallbackUrl(emulator.demo.stores.api, "http://shop.test/");
  const fetching = createEmulator({
    clock: createManualClock(),
    seed: { orders: 1 },
    callbackUrl: "http://shop.test/",
    automation: { production: { hours: 1 }, shipping: { hours: 1 } },
    callbacks: {
      fetch: () => {
        fetching.reset();
        return new Response();
      },
    },
  });
  await expect(fetching.clock.advance({ days: 1 })).rejects.toThrow(replaced);
  expect(fetching.world().organizations[0]?.shipments).toEqual([]);
  expect(fetching.callbacks.list()).toEqual([]);
  const moving = rejection(emulator.clock.advance({ days: 1 }));
  while (resets === 0) {
    await turns();
    restart();
  }
  await moving;
  await turns();
  const saved = emulator.world();
  expect(saved.organizations[0]?.shipments).toEqual([]);
  expect(saved.clock.time).toBe(start);
  expect(saved.tasks.map(({ task }) => task.kind)).toEqual(["startProduction", "startProduction", "startProduction"]);
});

describe("a request that arrived before the state was replaced", () => {
  it.each(ways)(
    "loses its connection and changes nothing after %s, also when its body ends later",
    async (_name, replace) => {
      const bench = setUp();
      const { emulator } = bench;
      emulator.checkpoint();
      const body = JSON.stringify({ order: validOrder(emulator) });
      const headers = { "X-Service-Secret-Key": emulator.secretKey, "Content-Type": "application/json" };
      const { readable: stream, writable } = new TransformStream<Uint8Array>();
      const writer = writable.getWriter();
      const sent = rejection(
        emulator.fetch(`${emulator.baseUrl}/orders`, {
          method: "POST",
          headers,
          body: stream,
          duplex: "half",
        } as RequestInit),
      );
      await turns();
      replace(bench);
      const before = emulator.world();
      writer.write(new TextEncoder().encode(body)).catch(() => undefined);
      writer.close().catch(() => undefined);
      expect(await sent).toMatchObject({ message: "fetch failed", cause: { code: "ECONNRESET" } });
      expect(emulator.world()).toEqual(before);
      expect(emulator.requests.at(-1)?.outcome).toBe("dropped");
    },
  );

  it.each(["/images", "/evidence"])("adds nothing to %s", async (path) => {
    const { emulator } = setUp();
    const headers = { "X-Service-Secret-Key": emulator.secretKey, "Content-Type": "application/octet-stream" };
    const { readable: body, writable } = new TransformStream<Uint8Array>();
    const writer = writable.getWriter();
    const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
    const sent = rejection(emulator.fetch(emulator.baseUrl + path, init));
    await turns();
    emulator.reset();
    const before = emulator.world();
    writer.write(Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)).catch(() => undefined);
    writer.close().catch(() => undefined);
    expect(await sent).toMatchObject({ cause: { code: "ECONNRESET" } });
    expect(emulator.world()).toEqual(before);
  });

  it.each([
    { fault: "gateway", ms: 10, processing: 1_000 },
    { fault: "slow", when: "before", ms: 1_000 },
  ] as const)("is not carried out later by a fault: %j", async (fault) => {
    const { emulator, clock, post } = setUp();
    const order = validOrder(emulator);
    emulator.faults.add({ on: "orders.create", ...fault });
    const sent = post("/orders", { order }).catch((error: unknown) => error);
    await clock.advance(100);
    emulator.reset();
    await clock.advance(5_000);
    await sent;
    expect(emulator.world().organizations[0]?.orders).toEqual([]);
  });
});

it("the waits of clients continue when the time is set back or forward", async () => {
  const { emulator, clock } = setUp();
  emulator.checkpoint();
  await emulator.clock.advance({ days: 3 });
  let ended = 0;
  emulator.clock.after(5_000, () => {
    ended += 1;
  });
  emulator.rewind();
  await clock.advance(4_999);
  expect(ended).toBe(0);
  await clock.advance(1);
  expect(ended).toBe(1);
});

it("the control that moves the clock over HTTP responds with 400 when the state is replaced", async () => {
  const gate = Promise.withResolvers<Response>();
  await using emulator = await startEmulator({
    callbackUrl: "http://shop.test/",
    callbacks: { fetch: () => gate.promise },
    seed: { orders: 1 },
  });
  const control = async (name: string, input: object) => {
    const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(input) };
    const response = await fetch(new URL(`/_emulator/${name}`, emulator.baseUrl), init);
    return { status: response.status, body: (await response.json()) as unknown };
  };
  const [order] = emulator.world().organizations[0]?.orders ?? [];
  emulator.ship(order?.reference ?? "Order_");
  const moving = control("clock.advance", { span: 1000 });
  await turns();
  expect((await control("reset", {})).status).toBe(200);
  expect(await moving).toEqual({ status: 400, body: { code: "refused", message: expect.stringMatching(replaced) } });
});

it("a world that is saved after `close` repeats its callbacks", async () => {
  const emulator = await startEmulator({
    callbackUrl: "http://shop.test/",
    callbacks: { fetch: () => new Promise<never>(() => undefined) },
    seed: { orders: 1 },
  });
  const [order] = emulator.world().organizations[0]?.orders ?? [];
  emulator.ship(order?.reference ?? "Order_");
  await emulator.close();
  const other = createEmulator({ callbacks: { fetch: () => new Response() } });
  other.load(emulator.world());
  await other.clock.advance(0);
  await other.callbacks.idle();
  expect(other.callbacks.list()).toMatchObject([{ status: "delivered", tried: 1 }]);
});
