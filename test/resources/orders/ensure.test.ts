import { DeadlineError } from "pod-partner";
import { createManualClock, type ManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { rejection } from "../../support/exchange.ts";
import { useService } from "../../support/partner.ts";
import { ref } from "../../support/references.ts";
import type { Recorded, StubResponse } from "../../support/stub-service.ts";

const order = {
  storeReference: ref("Store"),
  shippingKind: "combined" as const,
  customIdentifier: "shop-1",
  orderlines: [{ productReference: ref("Product"), quantity: 1 }],
};
const unknown: StubResponse = { status: 404, body: { code: "not_found", message: "no such order" } };
const made: StubResponse = { status: 201, body: { order: { reference: ref("Order") } } };

/** A response that comes after this many milliseconds of the clock. */
const delayed = (clock: ManualClock, ms: number, response: StubResponse) => async (): Promise<StubResponse> => {
  await clock.advance(ms);
  return response;
};

describe("orders.ensure takes the options of any call", () => {
  const context = useService();
  const orders = () => context.partner.orders;
  const shape = ({ method, path, body }: Recorded) => [method, path.replace(/^\/v2/, ""), body.toString() !== ""];

  it("adds fields to the body and the query of the creation, and not to the look-up", async () => {
    context.service.respond(unknown, made);
    const options = { body: { order: { preferredPackaging: "P" } }, query: { dryRun: true } };
    expect(await orders().ensure(order, options)).toMatchObject({ reference: ref("Order"), recovered: false });
    expect(context.service.requests.map(shape)).toEqual([
      ["GET", "/utilities/lookup-order-reference-by-custom-identifier?customIdentifier=shop-1", false],
      ["POST", "/orders?dryRun=true", true],
    ]);
    expect(context.service.requests[1]?.body.toString()).toContain('"preferredPackaging":"P"');
  });

  it.each(["the call's own", "the client's"])(
    "shares one deadline between the look-up and the creation: %s",
    async (whose) => {
      const clock = createManualClock();
      context.service.respond(delayed(clock, 150, unknown), delayed(clock, 150, made));
      const [own, client] = whose === "the client's" ? [undefined, 200] : [200, undefined];
      const partner = context.connect({ clock, deadline: client });
      const error = await rejection(partner.orders.ensure(order, { deadline: own }));
      // The creation was in progress.
      expect(error).toMatchObject({ name: "OutcomeUnknownError", identifiers: { customIdentifier: "shop-1" } });
    },
  );

  it("ends at its deadline while it waits for another call with the same identifier", async () => {
    const gate = Promise.withResolvers<StubResponse>();
    context.service.respondAlways(() => gate.promise);
    const first = orders().ensure(order);
    const error = await rejection(orders().ensure(order, { deadline: 50 }));
    expect(error).toBeInstanceOf(DeadlineError);
    expect(error).toMatchObject({
      endpoint: "POST /orders",
      isTimeout: true,
      message: expect.stringContaining("50 ms"),
    });
    expect(Reflect.get(Object(error), "stack")).toContain("ensure.test.ts");
    const lines = [{ ...order.orderlines[0], index: 1, canceledQuantity: 0, shippedQuantity: 0, annotations: [] }];
    const wire = { reference: ref("Order"), status: {}, orderlines: lines, onHold: null, legacyOrderCode: "nl1-1" };
    context.service.respondAlways(() => ({ body: { order: wire } }));
    gate.resolve({ body: { orderReference: ref("Order") } });
    expect(await first).toMatchObject({ existed: true });
  });
});

describe("`lookFor` of orders.ensure", () => {
  const context = useService();

  it.each([1_000, 1_001])(
    "is refused when it is not shorter than the deadline, and nothing is sent: %d",
    async (ms) => {
      const clock = createManualClock();
      const partner = context.connect({ clock });
      const error = await rejection(partner.orders.ensure(order, { lookFor: ms, deadline: 1_000 }));
      expect(error).toMatchObject({
        name: "RequestValidationError",
        issues: [{ path: ["lookFor"], message: expect.stringContaining("shorter than the `deadline`") }],
      });
      expect(context.service.requests).toEqual([]);
    },
  );

  it("is not named beside another wrong option", async () => {
    const options = { lookFor: 2_000, deadline: 1_000, compare: "some" as never };
    const error = await rejection(context.partner.orders.ensure(order, options));
    expect(error).toMatchObject({ issues: [{ path: ["compare"] }] });
  });

  it("is 0 by default, also after the service has refused the order", async () => {
    const refused = { status: 400, body: { code: "product_not_orderable", message: "no" } };
    context.service.respond(unknown, refused, unknown, made);
    expect(await rejection(context.partner.orders.ensure(order))).toMatchObject({ code: "product_not_orderable" });
    expect(await context.partner.orders.ensure(order)).toMatchObject({ existed: false });
    expect(context.service.requests.map(({ method }) => method)).toEqual(["GET", "POST", "GET", "POST"]);
  });

  it("can be 0 with any deadline", async () => {
    context.service.respond(unknown, made);
    const options = { lookFor: 0, deadline: 60_000 };
    expect(await context.partner.orders.ensure(order, options)).toMatchObject({ existed: false });
  });

  it("and `compare` are options of each order of ensureMany", async () => {
    context.service.respond({ body: { orderReference: ref("Order") } });
    const outcomes = [];
    for await (const outcome of context.partner.orders.ensureMany([order], { lookFor: 0, compare: false })) {
      outcomes.push(outcome);
    }
    expect(outcomes).toMatchObject([{ ok: true, value: { existed: true } }]);
    expect(context.service.requests).toHaveLength(1);
  });
});

describe('responses of another shape, with `responses: "report"`', () => {
  const context = useService();
  const connect = () => context.connect({ responses: "report" });

  it("are not compared by orders.ensure: they are an error", async () => {
    context.service.respond({ body: { orderReference: ref("Order") } }, { body: { order: { orderlines: [{}] } } });
    const error = await rejection(connect().orders.ensure(order, { compare: "lines" }));
    expect(error).toMatchObject({
      name: "ResponseValidationError",
      endpoint: "GET /orders/{orderReference}",
      issues: [
        { path: ["order", "orderlines", 0, "productReference"] },
        { path: ["order", "orderlines", 0, "quantity"] },
      ],
    });
  });
});
