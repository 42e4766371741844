import { getEventListeners } from "node:events";
import { type RenderInput, RequestValidationError } from "pod-partner";
import { sampleImage } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { collect } from "../support/collect.ts";
import { rejection } from "../support/exchange.ts";
import { setUp } from "../support/setup.ts";
import { orderOf } from "./matrix/subjects.ts";

interface Row {
  readonly id: number;
  readonly sku: string;
}
const rows: readonly Row[] = [1, 2, 3].map((id) => ({ id, sku: `SKU-${id}` }));
const never = new Promise<never>(() => undefined);

describe("a row of the caller's own", () => {
  it.each([
    ["at once", <T>(value: T) => value],
    ["later", <T>(value: T) => Promise.resolve(value)],
  ])("comes back as the outcome's input, as the same object, when `map` makes its order %s", async (_, when) => {
    const { emulator, partner, settle, orders } = setUp();
    const map = ({ id }: Row) => when(orderOf(emulator, `shop-${id}`));
    const outcomes = await settle(collect(partner.orders.ensureMany(rows, { map })));
    expect(new Set(outcomes.map(({ input }) => input))).toEqual(new Set(rows));
    for (const outcome of outcomes) {
      expect(rows).toContain(outcome.input);
      expect(outcome).toMatchObject({ ok: true, value: { customIdentifier: `shop-${outcome.input.id}` } });
    }
    expect(await orders()).toBe(3);
  });

  it.each(["throws", "rejects with"])("fails alone when its `map` %s", async (how) => {
    const { emulator, partner, settle, orders } = setUp();
    const error = new Error("there is no such SKU");
    const fail = async () => Promise.reject(error);
    const map = ({ id }: Row) => {
      if (id !== 2) return orderOf(emulator, `shop-${id}`);
      if (how === "throws") throw error;
      return fail();
    };
    const outcomes = await settle(collect(partner.orders.ensureMany(rows, { map })));
    expect(outcomes.filter(({ ok }) => !ok)).toStrictEqual([{ ok: false, input: rows[1], error }]);
    expect(await orders()).toBe(2);
  });

  it("is mapped before the source reuses the object", async () => {
    const { emulator, partner, settle } = setUp();
    function* refilled() {
      const row = { id: 0 };
      for (row.id = 1; row.id <= 4; row.id++) yield row;
    }
    const map = ({ id }: { id: number }) => orderOf(emulator, `shop-${id}`);
    const outcomes = await settle(collect(partner.orders.ensureMany(refilled(), { map })));
    const placed = outcomes.map((outcome) => outcome.ok && outcome.value.customIdentifier);
    expect(placed.sort()).toEqual(["shop-1", "shop-2", "shop-3", "shop-4"]);
  });

  it("does not delay an abort when its `map` never ends", async () => {
    const { partner, emulator } = setUp();
    const controller = new AbortController();
    const { signal } = controller;
    const all = rejection(collect(partner.orders.ensureMany(rows, { map: () => never, signal })));
    await Promise.resolve();
    const reason = new Error("the shop has closed");
    controller.abort(reason);
    expect(await all).toBe(reason);
    expect(emulator.requests).toHaveLength(0);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  it("is not placed when the loop is left while it is mapped", async () => {
    const { partner, emulator, settle, orders } = setUp();
    let mapped: () => void = () => undefined;
    const map = async ({ id }: Row) => {
      if (id > 1) await new Promise<void>((resolve) => (mapped = resolve));
      return orderOf(emulator, `shop-${id}`);
    };
    const leave = async () => {
      for await (const _ of partner.orders.ensureMany(rows.slice(0, 2), { map })) break;
    };
    await settle(leave());
    mapped();
    expect(await orders()).toBe(1);
  });

  it("is also an input of its own in renders.batch", async () => {
    const { partner, emulator, settle } = setUp({ renderDuration: 0 });
    const { studio: compositionReference } = emulator.demo.compositions;
    const map = async ({ sku }: Row): Promise<RenderInput> => {
      if (sku === "SKU-3") throw new Error("there is no design");
      const { reference: imageReference } = await partner.images.upload(sampleImage(sku));
      return { compositionReference, imageReference };
    };
    const outcomes = await settle(collect(partner.renders.batch(rows, { map })));
    const bySku = outcomes.map((outcome) => `${outcome.input.sku}: ${outcome.ok}`).sort();
    expect(bySku).toEqual(["SKU-1: true", "SKU-2: true", "SKU-3: false"]);
    for (const outcome of outcomes) if (outcome.ok) await outcome.value.media.cancel();
  });
});

describe("a row without `map`", () => {
  it("can have no other fields: the check of the request refuses them", async () => {
    const { partner, emulator, settle } = setUp();
    const row = { ...orderOf(emulator, "shop-1"), id: 1 };
    const [outcome] = await settle(collect(partner.orders.ensureMany([row] as never)));
    if (outcome === undefined || outcome.ok) throw new Error("It was placed");
    if (!RequestValidationError.isInstance(outcome.error)) throw outcome.error;
    expect(outcome.error.issues.map(({ path }) => path)).toEqual([["order", "id"]]);
    expect(emulator.requests).toHaveLength(0);
  });
});

describe("outcomes", () => {
  it("can be iterated once: a second loop throws and sends nothing", async () => {
    const { emulator, partner, settle } = setUp();
    const outcomes = partner.orders.ensureMany([orderOf(emulator, "shop-1")]);
    expect(await settle(collect(outcomes))).toHaveLength(1);
    const sent = emulator.requests.length;
    expect(await rejection(collect(outcomes))).toMatchObject({
      name: "AlreadyReadError",
      endpoint: "orders.ensureMany",
    });
    const mockups = partner.renders.batch([]);
    expect(await settle(collect(mockups))).toEqual([]);
    expect(await rejection(collect(mockups))).toMatchObject({ name: "AlreadyReadError" });
    expect(emulator.requests).toHaveLength(sent);
  });
});
