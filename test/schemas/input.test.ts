import { type PodPartner, RequestValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { combinedOrder } from "../support/orders.ts";
import { useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";

/** Every call that takes more than a reference, with `wrong` as its input. */
const calls: Record<string, (partner: PodPartner, wrong: never) => PromiseLike<unknown>> = {
  "catalog.products.lookup": (partner, wrong) => partner.catalog.products.lookup(wrong),
  "compositions.lookup": (partner, wrong) => partner.compositions.lookup(wrong),
  "renders.create": (partner, wrong) => partner.renders.create(wrong),
  "orders.create": (partner, wrong) => partner.orders.create(wrong),
  "orders.ensure": (partner, wrong) => partner.orders.ensure(wrong),
  "orders.cancel": (partner, wrong) => partner.orders.cancel(ref("Order"), wrong),
  "orders.replaceDropshipAddress": (partner, wrong) => partner.orders.replaceDropshipAddress(ref("Order"), wrong),
  "orders.quote": (partner, wrong) => partner.orders.quote(wrong),
  "orders.lookup": (partner, wrong) => partner.orders.lookup(wrong),
  "claims.createPackageMissing": (partner, wrong) => partner.claims.createPackageMissing(wrong),
  "claims.createItemIssues": (partner, wrong) => partner.claims.createItemIssues(wrong),
};

describe("a call with an invalid input rejects, and does not throw synchronously", () => {
  const context = useService();

  describe.each(Object.entries(calls))("%s", (_, call) => {
    it.each([undefined, null, 5, "text"])("refuses %j, and sends nothing", async (wrong) => {
      let promise: PromiseLike<unknown>;
      try {
        promise = call(context.partner, wrong as never);
      } catch (error) {
        expect.fail(`threw instead of giving a promise: ${error}`);
      }
      const error = await rejection(promise);
      if (!RequestValidationError.isInstance(error)) throw error;
      expect(error.issues.length).toBeGreaterThan(0);
      expect(context.service.requests).toHaveLength(0);
    });
  });
});

describe("an invalid header is refused before a request is sent", () => {
  const context = useService();

  it.each([
    ["a line break in its value", { "x-more": "a\r\nX-Evil: 1" }],
    ["a control character in its value", { "x-more": "a\u0000b" }],
    ["a character beyond Latin-1 in its value", { "x-more": "€" }],
    ["a space in its name", { "x more": "a" }],
    ["no name", { "": "a" }],
  ])("with %s", async (_, headers) => {
    const error = await rejection(context.partner.orders.create(combinedOrder, { headers }));
    expect(RequestValidationError.isInstance(error), `is a ${(error as Error).name}`).toBe(true);
    expect(context.service.requests).toHaveLength(0);
  });
});

describe("a body for a request that has no body", () => {
  const context = useService();

  it("is refused before a request is sent", async () => {
    const error = await rejection(context.partner.orders.get(ref("Order"), { body: { more: 1 } }));
    expect(error).toMatchObject({ name: "RequestValidationError", issues: [{ path: ["body"] }] });
    expect(context.service.requests).toHaveLength(0);
  });
});
