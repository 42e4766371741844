import { PodPartner } from "pod-partner";
import { validOrder } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { argumentsOf, methodsOf } from "../support/methods.ts";
import { setUp } from "../support/setup.ts";

/** Options as a class of the caller gives them: one own field, and one that the class computes. */
class Options {
  readonly timeout = 5_000;
  readonly #name: string;
  constructor(name: string) {
    this.#name = name;
  }
  get callId(): string {
    return this.#name;
  }
  /** The SDK does not know it. */
  get label(): string {
    return "nightly";
  }
}

const heard: string[] = [];
const partner = new PodPartner({
  baseUrl: "http://partner.test/v2",
  secretKey: "test-key-class-instances",
  hooks: { onRequest: ({ callId }) => void heard.push(callId) },
  fetch: async () => Response.json({ code: "sent", message: "It was sent." }, { status: 410 }),
});
const methods = [...methodsOf(partner)].filter(([name]) => name !== "withOptions");

/** Waits for what a method returns: a promise, or all steps of an iteration. */
async function finish(returned: unknown): Promise<void> {
  try {
    if (typeof returned === "object" && returned !== null && Symbol.asyncIterator in returned) {
      for await (const _ of returned as AsyncIterable<unknown>);
    } else await returned;
  } catch {
    // The service refuses every request.
  }
}

describe("an instance of a class with getters", () => {
  it.each(methods)("is the options of %s", async (name, method) => {
    heard.length = 0;
    const [given] = argumentsOf(name) ?? [[]];
    await finish(method(...given, new Options("nightly-run")));
    expect([heard.length > 0, heard.filter((callId) => !callId.startsWith("nightly-run"))]).toEqual([true, []]);
  });

  it("inherits options from another object", async () => {
    heard.length = 0;
    await finish(partner.auth.validate(Object.assign(Object.create({ callId: "inherited" }), { timeout: 5_000 })));
    expect(heard).toEqual(["inherited"]);
  });

  it("is an order, and places it once", async () => {
    const { emulator, partner, settle, orders } = setUp();
    const { customIdentifier: _, dropshipMinimalShippingLevel: __, ...fields } = validOrder(emulator);
    class Row {
      constructor() {
        Object.assign(this, fields);
      }
      get customIdentifier() {
        return "shop-7";
      }
      get dropshipMinimalShippingLevel() {
        return "express";
      }
      get total() {
        return 12;
      }
    }
    const row = new Row() as never;
    const { reference } = await settle(partner.orders.create(row));
    expect(await settle(partner.orders.ensure(row))).toMatchObject({ reference, existed: true });
    expect(await orders()).toBe(1);
    const [order] = emulator.world().organizations[0]?.orders ?? [];
    expect(order).toMatchObject({ customIdentifier: "shop-7" });
    const body = emulator.requests.find(({ call }) => call === "orders.create")?.request.body;
    expect(JSON.stringify(body)).toContain("express");
  });

  it("is the configuration of a client", async () => {
    const { emulator, clock, settle } = setUp();
    const { baseUrl, secretKey, fetch } = emulator;
    class Config {
      readonly fetch = fetch;
      readonly clock = clock;
      get baseUrl() {
        return baseUrl;
      }
      get secretKey() {
        return secretKey;
      }
    }
    expect(await settle(new PodPartner(new Config() as never).claims.list().toArray())).toEqual([]);
  });
});
