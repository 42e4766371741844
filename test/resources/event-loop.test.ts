import { type MockupInput, memoryStorage, type OrderReference, type PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { orderOf } from "../http/matrix/subjects.ts";
import { rejection } from "../support/exchange.ts";
import { setUp } from "../support/setup.ts";
import { rowsOf, startService } from "./renders/batch/service.ts";

type Order = ReturnType<typeof orderOf>;

const count = 500;
const times = <Row>(row: Row): readonly Row[] => Array.from({ length: count }, () => row);

async function* ensureEach(partner: PodPartner, order: Order, signal: AbortSignal) {
  for (const one of times(order)) yield await partner.orders.ensure(one, { signal });
}

describe("a turn of the event loop comes during many calls that need no response", () => {
  it.each<[name: string, call: (partner: PodPartner, order: Order, signal: AbortSignal) => AsyncIterable<unknown>]>([
    ["ensure, of an order that the storage knows", ensureEach],
    [
      "ensureMany, of orders that the storage knows",
      ({ orders }, order, signal) => orders.ensureMany(times(order), { signal }),
    ],
    ["ensureMany, of wrong rows", ({ orders }, _, signal) => orders.ensureMany(times({} as Order), { signal })],
    [
      "getMany, of wrong references",
      ({ orders }, _, signal) => orders.getMany(times("x" as OrderReference), { signal }),
    ],
    ["batch, of wrong rows", ({ renders }, _, signal) => renders.batch(times({} as MockupInput), { signal })],
  ])("%s, so that a timer can abort them", async (_, call) => {
    const { emulator, connect, settle, clock } = setUp();
    const partner = connect({ storage: memoryStorage({ clock }) });
    const order = orderOf(emulator, "shop-1001");
    await settle(partner.orders.ensure(order));
    const controller = new AbortController();
    let seen = 0;
    const loop = async () => {
      for await (const _ of call(partner, order, controller.signal)) seen += 1;
    };
    const reason = new Error("the timer");
    setImmediate(() => controller.abort(reason));
    expect(await rejection(loop())).toBe(reason);
    expect(seen).toBeLessThan(count);
  });

  it("batch, of pairs that the storage knows, so that a timer can abort them", async () => {
    const { partner } = startService(
      () => 0,
      () => 1,
    );
    const rows = rowsOf(1);
    for await (const _ of partner.renders.batch(rows, { download: false }));
    const controller = new AbortController();
    const many = Array.from({ length: 3_000 }, () => ({ ...rows[0] }) as MockupInput);
    let seen = 0;
    const loop = async () => {
      for await (const _ of partner.renders.batch(many, { download: false, signal: controller.signal })) seen += 1;
    };
    const reason = new Error("the timer");
    setImmediate(() => controller.abort(reason));
    expect(await rejection(loop())).toBe(reason);
    expect(seen).toBeLessThan(many.length);
  });
});
