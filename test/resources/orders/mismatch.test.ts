import { OrderMismatchError } from "pod-partner";
import { validAddress, validOrder } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { orderOf } from "../../http/matrix/subjects.ts";
import { rejection } from "../../support/exchange.ts";
import { setUp } from "../../support/setup.ts";

/** An order with the same identifier as `orderOf`, and another quantity on its line. */
const withQuantity = (order: ReturnType<typeof orderOf>, quantity: number) => ({
  ...order,
  orderlines: order.orderlines.map((line) => ({ ...line, quantity })),
});

describe("orders.ensure with a used identifier", () => {
  it("refuses an order with other lines, and places nothing", async () => {
    const { emulator, partner, settle, orders, posts } = setUp();
    const order = orderOf(emulator, "A");
    const { reference } = await settle(partner.orders.ensure(order));
    const error = await settle(rejection(partner.orders.ensure(withQuantity(order, 99))));
    if (!OrderMismatchError.isInstance(error)) throw error;
    expect(error.existing.reference).toBe(reference);
    expect(error.existing.orderlines[0]?.quantity).toBe(2);
    expect(error.requested[0]?.quantity).toBe(99);
    expect(error.message).toContain("customIdentifier A, and differs in orderlines[0].quantity (2, not 99).");
    expect(error.differences).toEqual([{ path: ["orderlines", 0, "quantity"], existing: 2, requested: 99 }]);
    expect([await orders(), posts()]).toEqual([1, 1]);
  });

  const lookUp = "/utilities/lookup-order-reference-by-custom-identifier";

  it.each([
    ["all", ["/orders", "/addresses"]],
    ["lines", ["/orders"]],
    [false, []],
  ] as const)("returns an equal order, after the requests to compare it: %s", async (compare, reads) => {
    const { emulator, partner, settle } = setUp();
    const order = orderOf(emulator, "A");
    const { reference } = await settle(partner.orders.ensure(order));
    const before = emulator.requests.length;
    expect(await settle(partner.orders.ensure(order, { compare }))).toMatchObject({ reference, existed: true });
    const paths = emulator.requests.slice(before).map(({ path }) => path.split("?")[0] ?? "");
    expect(paths.map((path) => path.replace(/\/\w+_\w+$/, ""))).toEqual([lookUp, ...reads]);
  });

  it("reads no address to create an order, or for a combined order", async () => {
    const { emulator, partner, settle } = setUp();
    const combined = validOrder(emulator, { shippingKind: "combined" });
    const order = { ...combined, customIdentifier: "A" };
    await settle(partner.orders.ensure(order));
    await settle(partner.orders.ensure(order));
    await settle(partner.orders.ensure(orderOf(emulator, "B")));
    expect(emulator.requests.filter(({ path }) => path.startsWith("/addresses"))).toEqual([]);
  });

  it("names the fields of another address, and shows none of their values", async () => {
    const { emulator, partner, settle, orders, posts } = setUp();
    const order = orderOf(emulator, "A");
    const { reference } = await settle(partner.orders.ensure(order));
    const moved = { ...order, dropshipAddress: { ...order.dropshipAddress, streetname: "Singel", zipcode: "1012 VC" } };
    const error = await settle(rejection(partner.orders.ensure(moved)));
    if (!OrderMismatchError.isInstance(error)) throw error;
    expect(error.differences).toEqual([
      { path: ["dropshipAddress", "streetname"] },
      { path: ["dropshipAddress", "zipcode"] },
    ]);
    expect(error.message).toContain(`The order ${reference} already has the customIdentifier A`);
    expect(error.message).toContain("differs in dropshipAddress.streetname, dropshipAddress.zipcode.");
    expect(error.hint).toContain('{ compare: "lines" }');
    for (const secret of ["Singel", "1012 VC", order.dropshipAddress.streetname])
      expect(JSON.stringify(error) + error.stack).not.toContain(secret);
    expect([await orders(), posts()]).toEqual([1, 1]);
  });

  it('accepts an order whose address was replaced, with `compare: "lines"`', async () => {
    const { emulator, partner, settle } = setUp();
    const order = orderOf(emulator, "A");
    const { reference } = await settle(partner.orders.ensure(order));
    await settle(partner.orders.replaceDropshipAddress(reference, validAddress()));
    expect(await settle(rejection(partner.orders.ensure(order)))).toMatchObject({ name: "OrderMismatchError" });
    expect(await settle(partner.orders.ensure(order, { compare: "lines" }))).toMatchObject({ reference });
    // Or with the new address.
    expect(await settle(partner.orders.ensure({ ...order, dropshipAddress: validAddress() }))).toMatchObject({
      reference,
    });
  });

  it.each([
    ["streetname", "Hauptstraße", "HAUPTSTRASSE", true],
    ["streetname", "Øvre Slottsgate", "Ovre slottsgate", true],
    ["streetname", "St. John's Road", "St Johns Road", true],
    ["streetname", "Işıklar", "ISIKLAR", true],
    ["streetname", "Straat № 5", "Straat No 5", true],
    ["streetname", "Singel 12½", "Singel 12 1/2", true],
    ["city", "Йошкар-Ола", "Иошкар Ола", true],
    ["streetname", "Singel", "Single", false],
    ["city", "Łódź", "Lodz", true],
    ["city", "Malmö", "MALMO", true],
    ["city", "दिल्ली", "दल्ली", false],
    ["phonenumber", "+31 (0)6 12345678", "+31612345678", true],
    ["phonenumber", "0612345678", "+31612345678", true],
    ["phonenumber", "0612345678", "+31612345679", false],
    ["phonenumber", "+31 6 12345678", "06-12345678", true],
    ["phonenumber", "+31610345678", "06-10345678", true],
    ["phonenumber", "+31 6 12345678", "06-12345679", false],
    ["state", "New York", "NY", true],
    ["state", "nh", "NH", true],
    ["state", "NB", "NH", false],
    ["state", "", "NH", false],
    ["state", "NH", "", false],
    ["state", "Noord-Holland", "Noord Brabant", false],
    ["state", "Noord-Holland", "noord holland", true],
    ["phonenumber", "-", "0612345678", false],
    ["phonenumber", "0612345678", "-", false],
    ["email", "ada@example.com", " Ada@Example.com ", true],
    ["email", " Ada@Example.com ", "ada@example.com", true],
    ["email", "ada@example.com", "adam@example.com", false],
  ])("compares the %s %s with %s: equal %s", async (field, sent, repeated, equal) => {
    const { emulator, partner, settle } = setUp();
    const order = orderOf(emulator, "A");
    const withField = (value: string) => ({ ...order, dropshipAddress: { ...order.dropshipAddress, [field]: value } });
    await settle(partner.orders.ensure(withField(sent)));
    const again = settle(partner.orders.ensure(withField(repeated)));
    if (equal) expect(await again).toMatchObject({ existed: true });
    else expect(await rejection(again)).toMatchObject({ differences: [{ path: ["dropshipAddress", field] }] });
  });

  it("compares annotations, each line with its equal", async () => {
    const { emulator, partner, settle } = setUp();
    const { orderlines, ...order } = orderOf(emulator, "A");
    const [line] = orderlines;
    if (line === undefined) throw new Error("The order has no line");
    const note = (value: string) => ({ ...line, annotations: [{ key: "note", value }] });
    await settle(partner.orders.ensure({ ...order, orderlines: [note("a"), line, note("b")] }));
    const again = (...lines: readonly object[]) => partner.orders.ensure({ ...order, orderlines: lines as never });
    expect(await settle(again(note("b"), note("a"), { ...line, annotations: [] }))).toMatchObject({ existed: true });
    const error = await settle(rejection(again(note("b"), note("c"), line)));
    if (!OrderMismatchError.isInstance(error)) throw error;
    expect(error.differences).toEqual([
      {
        path: ["orderlines", 1, "annotations"],
        existing: [{ key: "note", value: "a" }],
        requested: [{ key: "note", value: "c" }],
      },
    ]);
    const lines = partner.orders.ensure({ ...order, orderlines: [note("b"), note("c"), line] }, { compare: "lines" });
    expect(await settle(lines)).toMatchObject({ existed: true });
  });

  it("reports a dropship order in place of a combined one", async () => {
    const { emulator, partner, settle } = setUp();
    const order = orderOf(emulator, "A");
    await settle(partner.orders.ensure(order));
    const { dropshipAddress: _, ...rest } = order;
    const error = await settle(rejection(partner.orders.ensure({ ...rest, shippingKind: "combined" })));
    expect(error).toMatchObject({
      differences: [{ path: ["shippingKind"], existing: "dropship", requested: "combined" }],
    });
  });

  it("keeps the message short and at most 100 differences", async () => {
    const { emulator, partner, settle } = setUp();
    const order = orderOf(emulator, "A".repeat(1_000));
    await settle(partner.orders.ensure(order));
    const orderlines = Array.from({ length: 5_000 }, () => order.orderlines)
      .flat()
      .map((line) => ({ ...line, quantity: 7 }));
    const error = await settle(rejection(partner.orders.ensure({ ...order, orderlines })));
    if (!OrderMismatchError.isInstance(error)) throw error;
    expect(error.differences).toHaveLength(100);
    expect(error.message).toContain("orderlines[0].quantity (2, not 7), orderlines[1],");
    expect(error.message).toMatch(/ and 4995 more\.$/m);
    expect(error.message.length).toBeLessThan(500);
  });

  it("reports the mismatch as one row's outcome in `ensureMany`", async () => {
    const { emulator, partner, settle } = setUp();
    const order = orderOf(emulator, "A");
    await settle(partner.orders.ensure(order));
    const outcomes: unknown[] = [];
    const consume = async () => {
      for await (const outcome of partner.orders.ensureMany([withQuantity(order, 3), orderOf(emulator, "B")]))
        outcomes.push(outcome.ok ? outcome.value.customIdentifier : Reflect.get(Object(outcome.error), "name"));
    };
    await settle(consume());
    expect(outcomes.sort()).toEqual(["B", "OrderMismatchError"]);
  });
});
