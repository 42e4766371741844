import { isOpen, type OrderReference, PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { orderOf } from "../../http/matrix/subjects.ts";
import { rejection } from "../../support/exchange.ts";
import { setUp } from "../../support/setup.ts";

type Setup = ReturnType<typeof setUp>;

/** An order of two lines: quantity four on the first, one on the second. */
async function place({ partner, emulator }: Setup): Promise<OrderReference> {
  const order = orderOf(emulator, "shop-1001");
  const { productReference } = order.orderlines[0] ?? expect.fail("no line");
  const orderlines = [
    { productReference, quantity: 4 },
    { productReference, quantity: 1 },
  ];
  return (await partner.orders.create({ ...order, orderlines })).reference;
}

/** The bodies of the cancellations, each as one line of JSON. */
function watched({ connect, emulator }: Setup, meanwhile: (count: number) => void = () => undefined) {
  const sent: string[] = [];
  const fetch = async (request: Request, init?: RequestInit) => {
    if (request.url.endsWith("/cancel")) {
      const { orderlines } = (await request.clone().json()) as { orderlines: Record<string, number>[] };
      sent.push(orderlines.map(({ index, canceledQuantity }) => `${index}: ${canceledQuantity}`).join());
      meanwhile(sent.length);
    }
    return emulator.fetch(request, init);
  };
  return { partner: connect({ fetch }), sent };
}

describe("orders.cancelRemaining", () => {
  it("cancels the quantities that are neither shipped nor canceled, and sends absolute totals", async () => {
    const setup = setUp();
    const reference = await place(setup);
    const { partner, sent } = watched(setup);
    await partner.orders.cancel(reference, [{ index: 1, canceledQuantity: 1 }]);
    setup.emulator.ship(reference, { lines: [{ index: 1, quantity: 2 }] });
    expect(await partner.orders.cancelRemaining(reference)).toEqual({
      canceled: [
        { index: 1, canceledQuantity: 2 },
        { index: 2, canceledQuantity: 1 },
      ],
    });
    expect(sent).toEqual(["1: 1", "1: 2,2: 1"]);
    expect(isOpen(await partner.orders.get(reference))).toBe(false);
  });

  it("sends no cancellation when nothing remains", async () => {
    const setup = setUp();
    const reference = await place(setup);
    setup.emulator.ship(reference, { lines: [{ index: 1, quantity: 4 }] });
    const { partner, sent } = watched(setup);
    await partner.orders.cancelRemaining(reference);
    expect(await partner.orders.cancelRemaining(reference)).toEqual({ canceled: [] });
    expect(sent).toEqual(["2: 1"]);
  });

  it("reads the order again and cancels the rest when a line is shipped in between", async () => {
    const setup = setUp();
    const reference = await place(setup);
    const ship = (count: number) => {
      if (count === 1) setup.emulator.ship(reference, { lines: [{ index: 1, quantity: 3 }] });
    };
    const { partner, sent } = watched(setup, ship);
    const { data, timeline, response } = await partner.orders.cancelRemaining(reference).withResponse();
    expect(data.canceled[0]).toEqual({ index: 1, canceledQuantity: 1 });
    expect(sent).toEqual(["1: 4,2: 1", "1: 1,2: 1"]);
    expect(response.status).toBe(204);
    expect(timeline.map(({ outcome }) => outcome)).toEqual(["200", "409", "200", "204"]);
  });

  it("throws the conflict and cancels nothing when a line is shipped in between twice", async () => {
    const setup = setUp();
    const reference = await place(setup);
    const ship = () => setup.emulator.ship(reference, { lines: [{ index: 1, quantity: 1 }] });
    const { partner, sent } = watched(setup, ship);
    expect(await rejection(partner.orders.cancelRemaining(reference))).toMatchObject({
      name: "ConflictError",
      code: "canceled_quantity_exceeds_shippable",
      timeline: ["200", "409", "200", "409"].map((outcome) => ({ outcome })),
      stack: expect.stringContaining("cancel-remaining.test.ts"),
    });
    expect(sent).toHaveLength(2);
    const { orderlines } = await partner.orders.get(reference);
    expect(orderlines.map(({ canceledQuantity }) => canceledQuantity)).toEqual([0, 0]);
  });

  it("throws the conflict of an order in production, without a retry", async () => {
    const setup = setUp();
    const reference = await place(setup);
    setup.emulator.startProduction(reference);
    const { partner, sent } = watched(setup);
    expect(await rejection(partner.orders.cancelRemaining(reference))).toMatchObject({ code: "already_in_production" });
    expect(sent).toHaveLength(1);
  });

  it("ends at its deadline, which both requests share", async () => {
    const setup = setUp({}, { timeout: 60_000 });
    const reference = await place(setup);
    setup.emulator.faults.add({ on: "orders.get", fault: "slow", ms: 700 });
    setup.emulator.faults.add({ on: "orders.cancel", fault: "slow", ms: 700 });
    const began = setup.clock.now();
    let ended = Number.NaN;
    const call = rejection(setup.partner.orders.cancelRemaining(reference, { deadline: 1_000 }));
    void call.then(() => {
      ended = setup.clock.now() - began;
    });
    await setup.clock.advance(5_000);
    expect(await call).toMatchObject({ name: "DeadlineError" });
    expect(ended).toBe(1_000);
    expect(setup.clock.pending).toBe(0);
  });

  it("adds `body` to the cancellation only, and reports unknown options before it sends a request", async () => {
    const setup = setUp();
    const reference = await place(setup);
    const { partner, sent } = watched(setup);
    const before = setup.emulator.requests.length;
    const faulty = partner.orders.cancelRemaining(reference, { sginal: 1 } as never);
    expect(await rejection(faulty)).toMatchObject({ name: "RequestValidationError", issues: [{ path: ["sginal"] }] });
    expect(setup.emulator.requests).toHaveLength(before);
    // A read would be refused for its body, and the emulator refuses a field that it does not know.
    const call = partner.orders.cancelRemaining(reference, { body: { note: "late" } });
    expect(await rejection(call)).toMatchObject({ status: 400, endpoint: "POST /orders/{orderReference}/cancel" });
    expect(sent).toHaveLength(1);
  });

  it('refuses an order that breaks its schema, also with `responses: "report"`', async () => {
    const order = { orderlines: [{ index: 1, quantity: 2, canceledQuantity: 0 }] };
    let cancellations = 0;
    const fetch = async ({ method }: Request) => {
      if (method === "POST") cancellations++;
      return Response.json({ order });
    };
    const baseUrl = "https://partner.example/v2";
    const partner = new PodPartner({ baseUrl, secretKey: "a-secret-key", fetch, responses: "report" });
    const call = partner.orders.cancelRemaining(`Order_${"0".repeat(26)}`);
    expect(await rejection(call)).toMatchObject({ name: "ResponseValidationError" });
    expect(cancellations).toBe(0);
  });
});

describe("isOpen", () => {
  const line = (quantity: number, canceledQuantity: number, shippedQuantity: number) => ({
    index: 1,
    quantity,
    canceledQuantity,
    shippedQuantity,
  });
  it.each([
    [true, "nothing has happened", [line(1, 0, 0)]],
    [true, "one of two lines is shipped", [line(1, 0, 1), line(1, 0, 0)]],
    [true, "a line is shipped in part", [line(3, 1, 1)]],
    [false, "each line is shipped or canceled", [line(1, 0, 1), line(2, 2, 0)]],
    [false, "a line is shipped in part and canceled in part", [line(3, 1, 2)]],
  ])("is %s when %s (specification 3.4)", (open, _, orderlines) => {
    expect(isOpen({ orderlines })).toBe(open);
  });
});
