import type { Outcome, PodPartner } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { collect } from "../support/collect.ts";
import { rejection } from "../support/exchange.ts";
import { partnerWith } from "../support/partner.ts";
import { ref } from "../support/references.ts";
import { setUp } from "../support/setup.ts";

const valuesOf = <T>(outcomes: readonly Outcome<unknown, T>[]): T[] =>
  outcomes.flatMap((outcome) => (outcome.ok ? [outcome.value] : []));

describe("getMany", () => {
  it("reads each order of a list with one request, at most 16 at a time", async () => {
    const { emulator, partner, settle } = setUp({ seed: { orders: 130 } });
    const listed = await settle(partner.orders.list().toArray());
    const before = emulator.requests.length;
    const outcomes = await settle(collect(partner.orders.getMany(listed, { map: ({ reference }) => reference })));
    expect(emulator.requests.slice(before).map(({ call }) => call)).toEqual(Array(130).fill("orders.get"));
    expect(new Set(outcomes.map(({ input }) => input))).toEqual(new Set(listed));
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ ok: true, value: { reference: outcome.input.reference } });
  });

  it("reads products, shipments and claims, too", async () => {
    const { emulator, partner, settle } = setUp({ seed: { orders: 30 } });
    const { products } = emulator.demo;
    const found = await settle(
      collect(partner.catalog.products.getMany([products.slimCase, products.screenProtector])),
    );
    expect(valuesOf(found).map(({ weightGrams }) => typeof weightGrams)).toEqual(["number", "number"]);
    const unknown = await settle(collect(partner.shipments.getMany([ref("Shipment")])));
    expect(unknown).toMatchObject([{ ok: false, input: ref("Shipment"), error: { name: "NotFoundError" } }]);
    const claims = await settle(collect(partner.claims.getMany(new Set([ref("Claim")]))));
    expect(claims).toMatchObject([{ ok: false, error: { name: "NotFoundError" } }]);
  });

  it("names the row of a failure, and goes on", async () => {
    const { partner, settle } = setUp({ seed: { orders: 2 } });
    const [one, two] = await settle(partner.orders.list().toArray());
    const references = [one?.reference ?? ref("Order"), ref("Order"), two?.reference ?? ref("Order")];
    const outcomes = await settle(collect(partner.orders.getMany(references)));
    expect(valuesOf(outcomes)).toHaveLength(2);
    const failed = outcomes.find(({ ok }) => !ok);
    expect(failed).toMatchObject({ input: ref("Order"), error: { name: "NotFoundError" } });
    expect(failed?.ok === false && String(Reflect.get(Object(failed.error), "stack"))).toContain("at rows[1]");
  });

  it("ends with the caller's loop, and with the reason of the signal", async () => {
    const { emulator, partner, settle } = setUp({ seed: { orders: 40 } });
    const references = (await settle(partner.orders.list().toArray())).map(({ reference }) => reference);
    const before = emulator.requests.length;
    for await (const _ of partner.orders.getMany(references, { concurrency: 2 })) break;
    expect(emulator.requests.length - before).toBeLessThanOrEqual(4);
    const signal = AbortSignal.abort("enough");
    expect(await rejection(collect(partner.orders.getMany(references, { signal })))).toBe("enough");
  });

  it.each<[string, (partner: PodPartner) => AsyncIterable<unknown>]>([
    ["orders.getMany", ({ orders }) => orders.getMany([ref("Order", "1"), ref("Order", "2")])],
    ["claims.getMany", ({ claims }) => claims.getMany([ref("Claim", "1"), ref("Claim", "2")])],
    ["shipments.getMany", ({ shipments }) => shipments.getMany([ref("Shipment", "1"), ref("Shipment", "2")])],
    ["products.getMany", ({ catalog }) => catalog.products.getMany([ref("Product", "1"), ref("Product", "2")])],
    [
      "compositions.search",
      ({ compositions }) => compositions.search({ productReference: ref("Product"), sceneReference: ref("Scene") }),
    ],
  ])("cancels a read without a response when the caller leaves the loop: %s", async (_, read) => {
    const perspectives = [{ reference: ref("Perspective", "1") }, { reference: ref("Perspective", "2") }];
    const scene = { reference: ref("Scene"), perspectives, allowsProductPerspectives: false };
    let open = 0;
    const fetch = async (request: Request, init?: RequestInit) => {
      if (request.url.includes("/scenes/")) return Response.json({ scene });
      if (request.url.endsWith("1")) {
        // The other read has left by then, unless it waits for the levels of the first response.
        for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        const composition = { reference: ref("Composition"), tokenCost: 1 };
        return Response.json(
          { composition, code: "no", message: "No." },
          { status: request.url.includes("lookup") ? 200 : 409 },
        );
      }
      open += 1;
      return new Promise<Response>((_, reject) =>
        init?.signal?.addEventListener("abort", () => {
          open -= 1;
          reject(new Error("canceled"));
        }),
      );
    };
    let count = 0;
    for await (const _ of read(partnerWith({ fetch, clock: createManualClock() }))) {
      count += 1;
      break;
    }
    expect([count, open]).toEqual([1, 0]);
  });

  it("refuses wrong rows and options before a request is sent", async () => {
    const { emulator, partner } = setUp();
    const { getMany } = partner.orders;
    expect(await rejection(collect(getMany(5 as never)))).toMatchObject({
      issues: [{ path: ["rows"], message: "expected an iterable, such as an array" }],
    });
    expect(await rejection(collect(getMany([], { limit: 2 } as never)))).toMatchObject({
      issues: [{ path: ["limit"] }],
    });
    expect(emulator.requests).toEqual([]);
  });

  it("names each row after the call, in at most 200 characters", async () => {
    const { partner, settle } = setUp();
    const rows = [ref("Order"), ref("Order", "b")];
    const failed = await settle(collect(partner.orders.getMany(rows, { callId: "x".repeat(200), concurrency: 1 })));
    expect(failed).toMatchObject([
      { ok: false, error: { name: "NotFoundError", callId: `${"x".repeat(180)}/0` } },
      { ok: false, error: { name: "NotFoundError", callId: `${"x".repeat(180)}/1` } },
    ]);
  });

  it("can be read once, and the error names the method", () => {
    const { partner } = setUp();
    const each = [
      [partner.orders.getMany([]), "orders.getMany"],
      [partner.claims.getMany([]), "claims.getMany"],
      [partner.shipments.getMany([]), "shipments.getMany"],
      [partner.catalog.products.getMany([]), "catalog.products.getMany"],
    ] as const;
    for (const [outcomes, endpoint] of each) {
      outcomes[Symbol.asyncIterator]();
      expect(() => outcomes[Symbol.asyncIterator]()).toThrow(
        expect.objectContaining({
          endpoint,
          message: expect.stringMatching(/^The outcomes of \S+ were already read; they can/),
        }),
      );
    }
  });
});
