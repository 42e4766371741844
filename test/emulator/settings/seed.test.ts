import type { EmulatorOptions } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { placeOrder, setUp } from "../support.ts";

/** All references of an emulator with two orders: of its demo catalog, its lists and its images. */
async function referencesOf(options: EmulatorOptions): Promise<ReadonlySet<string>> {
  const bench = setUp(options);
  await placeOrder(bench);
  const order = await placeOrder(bench);
  const shipment = bench.emulator.ship(order);
  const bodies: unknown[] = [bench.demo, shipment];
  for (const path of ["/orders", `/orders/${order}`, "/accounts", "/brands", "/packagings", "/items", "/images"]) {
    bodies.push((await bench.get(path)).body);
  }
  const references = JSON.stringify(bodies).match(/[A-Z][a-z]+_[0-9a-z]{26}/g) ?? [];
  expect(references.length).toBeGreaterThan(50);
  return new Set(references);
}

describe("references", () => {
  it("are the same each time for one `seed.number`", async () => {
    expect(await referencesOf({ seed: { number: 7 } })).toEqual(await referencesOf({ seed: { number: 7 } }));
  });

  it.each([
    ["two emulators without a number", {}, {}],
    ["two numbers", { seed: { number: 1 } }, { seed: { number: 2 } }],
    ["two environments", { seed: { number: 1 } }, { seed: { number: 1 }, environment: "production" as const }],
  ])("are never the same for %s (specification 2.1)", async (_case, one, other) => {
    const references = await referencesOf(one);
    expect([...(await referencesOf(other))].filter((reference) => references.has(reference))).toEqual([]);
  });
});

describe("the orders of `seed.orders`", () => {
  it("have addresses with all 13 fields, as the service returns them (specification 2.3)", async () => {
    const { get } = setUp({ seed: { orders: 5 } });
    for (const { reference } of (await get("/orders")).body.orders) {
      const { order } = (await get(`/orders/${reference}`)).body;
      const { address } = (await get(`/addresses/${order.dropshipAddressReference}`)).body;
      const filled = expect.stringMatching(/./);
      expect(address).toEqual({
        reference: order.dropshipAddressReference,
        company: "",
        firstname: filled,
        lastname: filled,
        streetname: filled,
        housenumber: filled,
        housenumberAddition: "",
        additionalInfo: "",
        state: "",
        zipcode: filled,
        city: filled,
        countryCode: expect.stringMatching(/^[A-Z]{2}$/),
        phonenumber: "",
        email: expect.stringMatching(/^[^@]+@[^@]+$/),
      });
    }
    expect.assertions(5);
  });
});
