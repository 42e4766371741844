import { PodPartner, shipmentsIn } from "pod-partner";
import { createEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { ref } from "../../support/references.ts";

describe("shipmentsIn", () => {
  const [one, other] = [ref("Shipment", "1"), ref("Shipment", "2")];

  it.each<[what: string, response: unknown, found: readonly string[]]>([
    ["a list of references", { shipments: [one, other] }, [one, other]],
    ["a list of objects", { shipments: [{ reference: one }, { reference: other }] }, [one, other]],
    ["the orderlines, each once", { orderlines: [{ shipment: one }, { shipment: one }] }, [one]],
    ["a field that has the same name as another reference", { reference: ref("Order"), shipmentReference: one }, [one]],
    ["a reference itself", one, [one]],
    ["no field", { reference: ref("Order"), orderlines: [{ quantity: 1, annotations: [] }], onHold: null }, []],
    ["a text that has one in it", { note: `See ${one}.` }, []],
    ["nothing", undefined, []],
    ["null", null, []],
  ])("finds the references in %s", (_, response, found) => {
    expect(shipmentsIn(response)).toEqual(found);
  });

  it("reads what is nested deeply, and what contains itself", () => {
    let deep: object = { reference: one };
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    expect(shipmentsIn(deep)).toEqual([one]);
    const circle: { itself?: object; reference: string } = { reference: other };
    circle.itself = circle;
    expect(shipmentsIn(circle)).toEqual([other]);
  });

  it("finds the shipments of an order of the emulator that names them", async () => {
    const emulator = createEmulator({ assumptions: { shipmentsField: "parcels" }, seed: { orders: 2 } });
    const partner = new PodPartner(emulator.clientOptions);
    const [first, second] = await partner.orders.list().toArray();
    if (first === undefined || second === undefined) return expect.fail("There are no orders");
    expect(shipmentsIn(await partner.orders.get(first.reference))).toEqual([]);
    const parts = [
      emulator.ship(first.reference, { lines: [{ index: 1, quantity: 1 }] }),
      emulator.ship(first.reference),
    ];
    emulator.ship(second.reference);
    expect(shipmentsIn(await partner.orders.get(first.reference))).toEqual(parts);
  });
});
