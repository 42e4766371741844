import { describe, expect, it } from "vitest";
import { ref } from "../../support/references.ts";
import { createWorld, first } from "./support.ts";

describe("the changes of an order", () => {
  it("are, the first time, its status and what differs from an order just placed", async () => {
    const { service, follower, handed } = createWorld();
    service.ship(first, [2]);
    await follower().update(first);
    expect(handed.map(({ changes }) => changes)).toEqual([
      [
        { kind: "shipped", index: 1, from: 0, to: 2 },
        { kind: "status", from: undefined, to: "accepted" },
      ],
    ]);
  });

  it("are the totals of each line that was shipped or canceled since", async () => {
    const { service, follower, handed } = createWorld();
    const { update } = follower();
    await update(first);
    service.ship(first, [1], [0, 2]);
    await update(first);
    service.ship(first, [3], [1, 2]);
    await update(first);
    expect(handed.slice(1).map(({ changes }) => changes)).toEqual([
      [
        { kind: "shipped", index: 1, from: 0, to: 1 },
        { kind: "canceled", index: 2, from: 0, to: 2 },
      ],
      [
        { kind: "shipped", index: 1, from: 1, to: 3 },
        { kind: "shipped", index: 2, from: 0, to: 1 },
        { kind: "completed" },
      ],
    ]);
  });

  it("do not contain the order of the lines, which has no meaning", async () => {
    const { service, follower, handed } = createWorld();
    const { update } = follower();
    await update(first);
    service.change(first, (order) => ({ ...order, orderlines: [...order.orderlines].reverse() }));
    await update(first);
    expect(handed).toHaveLength(1);
  });

  it("are a hold, another reason of the hold, and its end", async () => {
    const { service, follower, handed } = createWorld();
    const { update } = follower();
    await update(first);
    for (const reason of ["no stock", "wrong address", null]) {
      service.hold(first, reason);
      await update(first);
    }
    expect(handed.slice(1).flatMap(({ changes }) => changes)).toEqual([
      { kind: "held", reason: "no stock" },
      { kind: "held", reason: "wrong address" },
      { kind: "released" },
    ]);
  });

  it("are a replaced address, the status, and any other field, also an unknown one and one of a line", async () => {
    const { service, follower, handed } = createWorld();
    const { update } = follower();
    await update(first);
    service.change(first, (order) => ({ ...order, dropshipAddressReference: ref("Address", "2") }));
    await update(first);
    service.change(first, (order) => ({ ...order, status: { code: "in_production" } }));
    await update(first);
    service.change(first, (order) => ({ ...order, carrierNote: "new" }));
    await update(first);
    service.change(first, (order) => ({
      ...order,
      orderlines: order.orderlines.map((line) => ({ ...line, legacySku: "SKU-2" })),
    }));
    await update(first);
    expect(handed.slice(1).map(({ changes }) => changes)).toEqual([
      [{ kind: "addressReplaced", from: ref("Address", "1"), to: ref("Address", "2") }],
      [{ kind: "status", from: "accepted", to: "in_production" }],
      [{ kind: "other" }],
      [{ kind: "other" }],
    ]);
  });

  it("are empty if the order is the same, also with its fields in another order", async () => {
    const { service, follower, handed } = createWorld();
    const { update } = follower();
    await update(first);
    service.change(first, ({ reference, ...order }) => ({
      ...Object.fromEntries(Object.entries(order).reverse()),
      ...order,
      reference,
    }));
    await update(first);
    expect(handed).toHaveLength(1);
  });

  it("come with the order as it was when it was last handed over", async () => {
    const { service, follower } = createWorld();
    const previous: unknown[] = [];
    const { update } = follower({ onChange: (change) => previous.push(change.previous) });
    await update(first);
    service.ship(first, [3], [3]);
    service.hold(first, "no stock");
    await update(first);
    service.hold(first, null);
    await update(first);
    const line = { quantity: 3, canceledQuantity: 0 };
    const unchanged = { statusCode: "accepted", dropshipAddressReference: ref("Address", "1") };
    expect(previous).toEqual([
      undefined,
      {
        orderlines: [
          { index: 1, shippedQuantity: 0, ...line },
          { index: 2, shippedQuantity: 0, ...line },
        ],
        held: false,
        completed: false,
        ...unchanged,
      },
      {
        orderlines: [
          { index: 1, shippedQuantity: 3, ...line },
          { index: 2, shippedQuantity: 3, ...line },
        ],
        held: true,
        completed: true,
        ...unchanged,
      },
    ]);
  });

  it("leave no text of the order in the storage but its status code and references", async () => {
    const { service, follower, storage } = createWorld();
    service.hold(first, "Ada Jansen does not live there");
    service.change(first, (order) => ({ ...order, customIdentifier: "ada@example.com" }));
    await follower().update(first);
    const texts: string[] = [];
    for await (const key of storage.keys("")) texts.push(new TextDecoder().decode(await storage.get(key)));
    const text = texts.join("\n");
    expect(text).not.toMatch(/Ada|ada@|shop-/);
    expect(text).toContain('"accepted"');
    expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(300);
  });
});
