import { PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { secretKey, useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";

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

  it.each([{}, [], "text", { order: null }, { orderReference: ref("Product") }])("refuses %j", async (body) => {
    context.service.respond({ body: JSON.stringify(body) });
    await expect(lookup(context.partner)).rejects.toMatchObject({
      name: "ResponseValidationError",
      issues: [{ path: ["orderReference"] }],
    });
  });

  it("sends a space as %20, which every parser reads as a space", async () => {
    context.service.respond({ body: { orderReference: ref("Order") } });
    await context.partner.orders.lookup({ customIdentifier: "shop 1+2&é" });
    expect(context.service.requests[0]?.path).toBe(
      "/v2/utilities/lookup-order-reference-by-custom-identifier?customIdentifier=shop%201%2B2%26%C3%A9",
    );
  });

  it("uses the names from the option `assumptions`", async () => {
    const partner = new PodPartner({
      baseUrl: context.service.baseUrl,
      secretKey,
      assumptions: { customIdentifierParameter: "identifier", orderReferenceField: "found" },
    });
    context.service.respond({ body: { found: ref("Order") } });
    expect(await lookup(partner)).toBe(ref("Order"));
    expect(context.service.requests[0]?.path).toBe(
      "/v2/utilities/lookup-order-reference-by-custom-identifier?identifier=shop-1",
    );
  });
});
