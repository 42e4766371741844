import { PodPartnerError } from "pod-partner";
import { CallbackValidationError, parseOrderUpdated } from "pod-partner/callbacks";
import { describe, expect, it } from "vitest";
import { ref } from "../support/references.ts";
import { callbackQuery, callbackUrl, token } from "./support.ts";

const refusal = (url: string): CallbackValidationError => {
  try {
    parseOrderUpdated(url);
  } catch (error) {
    if (CallbackValidationError.isInstance(error)) return error;
    throw error;
  }
  return expect.fail("the callback was accepted");
};

describe("parseOrderUpdated", () => {
  it("reads every parameter of specification 6", () => {
    const url = callbackUrl({ custom_reference: "shop 1001/ä", via_store_code: "hub" });
    const expected = {
      environment: "test",
      orderReference: ref("Order", "1"),
      legacyOrderCode: "shop-7-42",
      customIdentifier: "shop 1001/ä",
      storeCode: "shop-7",
      viaStoreCode: "hub",
    };
    expect(parseOrderUpdated(url)).toEqual(expected);
    expect(parseOrderUpdated(new URL(url))).toEqual(expected);
  });

  it("reads the path and the query that a Node request has, also of a malformed target", () => {
    for (const path of ["/callbacks", "//", "", "http://[", "/%"]) {
      expect(parseOrderUpdated(`${path}?${callbackQuery()}#x`).storeCode).toBe("shop-7");
    }
  });

  it("has undefined for what an order without an identifier and an integrator lacks", () => {
    expect(parseOrderUpdated(callbackUrl())).toMatchObject({ customIdentifier: undefined, viaStoreCode: undefined });
  });

  const aliases = { partner_reference: "old-1", partner_code: "old-2", via_partner_code: "old-3" };

  it("reads the deprecated aliases when all new names are absent or empty", () => {
    const expected = { customIdentifier: "old-1", storeCode: "old-2", viaStoreCode: "old-3" };
    expect(parseOrderUpdated(callbackUrl({ ...aliases, store_code: undefined }))).toMatchObject(expected);
    expect(parseOrderUpdated(callbackUrl({ ...aliases, store_code: "", custom_reference: "" }))).toMatchObject(
      expected,
    );
  });

  it("does not read a parameter of the partner's own URL as an alias while the new names are there", () => {
    // The order has no identifier and no integrator: the service sends `store_code` only.
    const url = callbackUrl({ partner_reference: "campaign-7", via_partner_code: "newsletter" });
    expect(parseOrderUpdated(url)).toMatchObject({
      storeCode: "shop-7",
      customIdentifier: undefined,
      viaStoreCode: undefined,
    });
  });

  it("prefers the new name to its alias", () => {
    const both = { ...aliases, custom_reference: "new-1", store_code: "new-2", via_store_code: "new-3" };
    const expected = { customIdentifier: "new-1", storeCode: "new-2", viaStoreCode: "new-3" };
    expect(parseOrderUpdated(callbackUrl(both))).toMatchObject(expected);
  });

  it("takes the service's value, which comes last, when the configured URL has the same parameter", () => {
    const url = `https://shop.example/?environment=prod&store_code=mine&${callbackQuery()}`;
    expect(parseOrderUpdated(url)).toMatchObject({ environment: "test", storeCode: "shop-7" });
  });

  it.each<[string, Record<string, string | undefined>, string]>([
    ["without the environment", { environment: undefined }, "environment"],
    ["of an unknown environment", { environment: "production" }, "environment"],
    ["without the reference", { order_reference_v2: undefined }, "order_reference_v2"],
    ["with a reference of another kind", { order_reference_v2: ref("Shipment", "1") }, "order_reference_v2"],
    ["with the v1 reference as the reference", { order_reference_v2: "shop-7-42" }, "order_reference_v2"],
    ["with a path in the reference", { order_reference_v2: `${ref("Order", "1")}/cancel` }, "order_reference_v2"],
    ["without the store", { store_code: undefined }, "store_code"],
  ])("refuses a callback %s, and names the parameter", (_, changes, name) => {
    const error = refusal(callbackUrl(changes));
    expect(error.issues.map(({ path }) => path)).toEqual([[name]]);
    expect(error.message).toContain(name);
    expect(PodPartnerError.isInstance(error) && !error.isRetryable).toBe(true);
  });

  it("reports all issues at once, and shows no value of the query", () => {
    const error = refusal(callbackUrl({ environment: "secret-1", order_reference_v2: "secret-2", store_code: "" }));
    expect(error.issues).toHaveLength(3);
    const shown = `${error.stack} ${JSON.stringify(error)}`;
    expect(shown).not.toContain("secret-");
    expect(shown).not.toContain(token);
  });

  it("refuses a URL without a query, and one that is too long", () => {
    expect(refusal("https://shop.example/callbacks").issues).toHaveLength(3);
    expect(refusal(callbackUrl({ custom_reference: "x".repeat(20_000) })).message).toContain("longer than 16384");
  });
});
