import { ControlError } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import type { ProductChanges } from "../../../src/emulator/controls/catalog.ts";
import { type Bench, placeOrder, setUp } from "../support.ts";

type Line = "slimCaseNext" | "slimCase" | "screenProtector";

/** Places an order with one unit of each product. `slimCaseNext` is prelaunched. */
async function place(bench: Bench, ...products: readonly Line[]) {
  const imageReference = await bench.image();
  const orderlines = products.map((name) => ({
    productReference: bench.demo.products[name],
    quantity: 1,
    ...(name === "screenProtector" ? {} : { imageReference }),
  }));
  return placeOrder(bench, { orderlines });
}

async function codeOf(bench: Bench, order: string): Promise<string> {
  return (await bench.get(`/orders/${order}`)).body.order.status.code;
}

const launch = ({ emulator, demo }: Bench, status: ProductChanges["status"] = "launched") =>
  emulator.updateProduct(demo.products.slimCaseNext, { ...(status && { status }) });

const waits = /^Order_\w+ is a pre-order and waits for the launch of Slim case iPhone 18$/;

describe("an order of a prelaunched product (specification 3.3)", () => {
  it("is not produced or shipped before the launch, in part or in full, and the control says why", async () => {
    const bench = setUp();
    const { emulator } = bench;
    const order = await place(bench, "screenProtector", "slimCaseNext");
    expect(() => emulator.startProduction(order)).toThrow(waits);
    expect(() => emulator.ship(order)).toThrow(waits);
    expect(() => emulator.ship(order, { lines: [{ index: 1, quantity: 1 }] })).toThrow(waits);
    expect(await codeOf(bench, order)).toBe("received");
  });

  it("goes on with the step of the automation that it waited with", async () => {
    const bench = setUp({ automation: { production: { hours: 1 }, shipping: { hours: 1 } } });
    const { clock } = bench.emulator;
    const order = await place(bench, "slimCaseNext");
    const other = await place(bench, "slimCase");
    await clock.advance({ days: 30 });
    expect([await codeOf(bench, order), await codeOf(bench, other)]).toEqual(["received", "shipped"]);
    launch(bench, "announced");
    expect(await codeOf(bench, order)).toBe("received");
    launch(bench);
    expect(await codeOf(bench, order)).toBe("in_production");
    await clock.advance({ hours: 1 });
    expect(await codeOf(bench, order)).toBe("shipped");
  });

  it("on hold, too, needs both the launch and the release", async () => {
    for (const holdFirst of [true, false]) {
      const bench = setUp({ automation: { production: 0 } });
      const { emulator } = bench;
      const order = await place(bench, "slimCaseNext");
      emulator.hold(order, "The image is dark");
      await emulator.clock.advance(1);
      const steps = [() => launch(bench), () => emulator.release(order)];
      if (holdFirst) steps.reverse();
      const states: string[] = [];
      for (const step of steps) {
        step();
        states.push(await codeOf(bench, order));
      }
      expect(states).toEqual(["received", "in_production"]);
    }
  });

  it("does not wait for a line that is canceled", async () => {
    const bench = setUp({ automation: { production: 0, shipping: { hours: 1 } } });
    const order = await place(bench, "slimCase", "slimCaseNext");
    const manual = await place(bench, "slimCase", "slimCaseNext");
    const { clock } = bench.emulator;
    await clock.advance({ days: 1 });
    await bench.post(`/orders/${order}/cancel`, { orderlines: [{ index: 2, canceledQuantity: 1 }] });
    await clock.advance(1);
    expect([await codeOf(bench, order), await codeOf(bench, manual)]).toEqual(["in_production", "received"]);
    await clock.advance({ hours: 1 });
    expect(await codeOf(bench, order)).toBe("shipped");
  });

  it("waits in a saved world", async () => {
    const bench = setUp({ automation: { production: 0 } });
    const order = await place(bench, "slimCaseNext");
    await bench.emulator.clock.advance(1);
    const other = setUp();
    other.emulator.load(JSON.parse(JSON.stringify(bench.emulator.world())));
    other.emulator.updateProduct(bench.demo.products.slimCaseNext, { status: "launched" });
    expect(await codeOf(other, order)).toBe("in_production");
  });

  it("is refused in a seed that has it in production or shipped", () => {
    const { emulator } = setUp();
    const orderlines = [{ product: "slimCaseNext" }];
    expect(() => emulator.seed({ orders: [{ orderlines, inProduction: true }] })).toThrow(
      "orders[0]: The order cannot be in production: it is a pre-order and waits for the launch of Slim case iPhone 18",
    );
    expect(() => emulator.seed({ orders: [{ orderlines, shipments: [{}] }] })).toThrow("waits for the launch of");
    expect(emulator.seed({ orders: [{ orderlines }] }).orders).toHaveLength(1);
  });
});

describe("startProduction", () => {
  it("refuses an order on hold, which a release allows again", async () => {
    const bench = setUp();
    const { emulator } = bench;
    const order = await placeOrder(bench);
    emulator.hold(order, "The print file is broken");
    expect(() => emulator.startProduction(order)).toThrow(
      new ControlError(`${order} is on hold: The print file is broken`),
    );
    expect(await codeOf(bench, order)).toBe("received");
    emulator.release(order);
    emulator.startProduction(order);
    expect(await codeOf(bench, order)).toBe("in_production");
  });
});

describe("combined orders", () => {
  const combined = (bench: Bench, store: "api" | "wholesale") =>
    placeOrder(bench, {
      shippingKind: "combined",
      dropshipAddress: undefined,
      storeReference: bench.demo.stores[store],
    });

  it("of stores of one account ship together", async () => {
    const bench = setUp();
    const [{ reference: other } = { reference: "Order_" as const }] = bench.emulator.seed({
      orders: [{ store: "shopify", shippingKind: "combined" }],
    }).orders;
    const order = await combined(bench, "api");
    const shipment = bench.emulator.ship([order, other]);
    expect((await bench.get(`/shipments/${shipment}`)).body.shipment.orders).toHaveLength(2);
  });

  it("of stores of different accounts do not: their combined addresses differ", async () => {
    const bench = setUp();
    const orders = [await combined(bench, "api"), await combined(bench, "wholesale")];
    expect(() => bench.emulator.ship(orders)).toThrow(
      "Only orders to the same combined address ship together: the stores Demo webshop and Demo wholesale belong to different accounts",
    );
    for (const order of orders) {
      bench.emulator.ship(order);
      expect(await codeOf(bench, order)).toBe("shipped");
    }
  });
});
