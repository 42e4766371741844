import { PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { dropshipOrder } from "../../support/orders.ts";
import { secretKey, useService } from "../../support/partner.ts";
import { ref } from "../../support/references.ts";

describe("orders.lookup, whose parameter and response the specification does not show (4.10, 4.12)", () => {
  const context = useService();
  const lookup = (partner: PodPartner) => partner.orders.lookup({ customIdentifier: "shop-1" });

  it.each([
    ["orderReference", { orderReference: ref("Order") }],
    ["reference", { reference: ref("Order") }],
    ["order.reference", { order: { reference: ref("Order") } }],
    ["order", { order: ref("Order") }],
  ])("finds the order in a response that contains %s", async (_, body) => {
    context.service.respond({ body });
    expect(await lookup(context.partner)).toBe(ref("Order"));
  });

  it.each([
    [404, { code: "not_found", message: "No such order." }],
    [404, { error: { code: "not_found", message: "No such order." } }],
    [200, null],
    [200, {}],
    [200, { orderReference: null }],
    [200, { order: null }],
    [200, { orderReference: null, message: "No such order." }],
    [200, undefined],
    [204, undefined],
  ])("takes %i with %j as none", async (status, body) => {
    const none = { status, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    context.service.respond(none);
    await expect(lookup(context.partner)).rejects.toMatchObject({ name: "NotFoundError" });
    context.service.reset();
    context.service.respond(none, { status: 201, body: { order: { reference: ref("Order") } } });
    const placed = await context.partner.orders.ensure({ ...dropshipOrder, customIdentifier: "shop-1" });
    expect(placed).toMatchObject({ reference: ref("Order"), existed: false });
  });

  it.each([
    ["404", 404, { code: "not_found", message: "No such order." }],
    ["empty", 204, undefined],
    ["null", 200, { orderReference: null }],
  ] as const)("creates nothing after a response that `noOrder` lacks: %s", async (form, status, body) => {
    const noOrder = (["404", "empty", "null"] as const).filter((other) => other !== form);
    const { baseUrl } = context.service;
    const partner = new PodPartner({ baseUrl, secretKey, retry: { retries: 0 }, assumptions: { noOrder } });
    context.service.respondAlways({ status, body });
    await expect(partner.orders.ensure({ ...dropshipOrder, customIdentifier: "shop-1" })).rejects.toThrow();
    expect(context.service.requests.every(({ method }) => method === "GET")).toBe(true);
  });

  it("takes a 404 without an error object as none only with `bare-404`", async () => {
    const { baseUrl } = context.service;
    const order = { ...dropshipOrder, customIdentifier: "shop-1" };
    context.service.respond({ status: 404 });
    await expect(context.partner.orders.ensure(order)).rejects.toMatchObject({ name: "NotFoundError" });
    const partner = new PodPartner({ baseUrl, secretKey, assumptions: { noOrder: ["404", "bare-404"] } });
    context.service.respond({ status: 404 }, { status: 201, body: { order: { reference: ref("Order") } } });
    expect(await partner.orders.ensure(order)).toMatchObject({ existed: false });
    context.service.respond({ status: 404, body: "<html>Not here</html>" });
    await expect(partner.orders.ensure(order)).rejects.toMatchObject({ name: "NotFoundError" });
  });

  it.each([[], "text", { order: {} }, { data: { reference: ref("Order") } }, { orderReference: ref("Product") }])(
    "refuses %j",
    async (body) => {
      context.service.respond({ body: JSON.stringify(body) });
      await expect(lookup(context.partner)).rejects.toMatchObject({
        name: "ResponseValidationError",
        issues: [{ path: ["orderReference"] }],
      });
    },
  );

  it("sends a space as %20, which every parser reads as a space", async () => {
    context.service.respond({ body: { orderReference: ref("Order") } });
    await context.partner.orders.lookup({ customIdentifier: "shop 1+2&é/#?%" });
    expect(context.service.requests[0]?.path).toBe(
      "/v2/utilities/lookup-order-reference-by-custom-identifier?customIdentifier=shop%201%2B2%26%C3%A9%2F%23%3F%25",
    );
  });

  it("uses the names from the option `assumptions`", async () => {
    const partner = context.connect({
      assumptions: { customIdentifierParameter: "identifier", orderReferenceField: "found" },
    });
    context.service.respond({ body: { found: ref("Order") } });
    expect(await lookup(partner)).toBe(ref("Order"));
    expect(context.service.requests[0]?.path).toBe(
      "/v2/utilities/lookup-order-reference-by-custom-identifier?identifier=shop-1",
    );
  });
});
