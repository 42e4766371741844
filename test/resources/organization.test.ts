import { describe, expect, it } from "vitest";
import { missing, useExchange } from "../support/exchange.ts";
import { ref } from "../support/references.ts";

describe("organization (specification 2.11, 4.2)", () => {
  const { exchange, checksResponses } = useExchange();

  it("organization.get sends GET /organization and returns the record unchanged", async () => {
    const organization = { name: "Cases & Co", deep: { er: [1, null] } };
    const result = await exchange(
      (partner) => partner.organization.get(),
      { line: "GET /organization" },
      { body: { organization } },
    );
    expect(result).toStrictEqual(organization);
  });

  it("organization.accounts.list sends GET /accounts and returns the list", async () => {
    const accounts = [
      { reference: ref("Account", "1"), name: "Benelux", balance: 12, later: null },
      { reference: ref("Account", "2") },
    ];
    const result = await exchange(
      (partner) => partner.organization.accounts.list(),
      { line: "GET /accounts" },
      { body: { accounts } },
    );
    expect(result).toStrictEqual(accounts);
  });

  const stores = [
    {
      reference: ref("Store", "1"),
      integration: "api",
      legacyCode: "nl1",
      account: { reference: ref("Account", "1") },
    },
    { reference: ref("Store", "2"), integration: "some-platform", legacyCode: "nl2" },
  ];

  it("organization.stores.list sends GET /stores and returns the list", async () => {
    const result = await exchange(
      (partner) => partner.organization.stores.list(),
      { line: "GET /stores" },
      { body: { stores } },
    );
    expect(result).toStrictEqual(stores);
  });

  it("organization.brands.list sends GET /brands and returns the list", async () => {
    const brands = [{ reference: ref("Brand", "1"), name: "Casual", primaryColour: "#ff0000" }];
    const result = await exchange(
      (partner) => partner.organization.brands.list(),
      { line: "GET /brands" },
      { body: { brands } },
    );
    expect(result).toStrictEqual(brands);
  });

  it.each([
    ["accounts", "Account"],
    ["stores", "Store"],
    ["brands", "Brand"],
  ] as const)(
    "organization.%s.list also accepts a bare list, since the specification does not show the shape of the response",
    async (name, kind) => {
      const list = [{ reference: ref(kind, "1") }];
      const result = await exchange(
        (partner) => partner.organization[name].list(),
        { line: `GET /${name}` },
        { body: list },
      );
      expect(result).toStrictEqual(list);
    },
  );

  checksResponses("organization.stores.list", {
    call: (partner) => partner.organization.stores.list(),
    wire: { stores },
    refuses: [
      [["stores", 1, "reference"], missing],
      [["stores", 0, "reference"], ref("Brand", "1")],
      [["stores", 0, "integration"], 7],
      [["stores", 0, "legacyCode"], {}],
    ],
    // `integration` is free-form (2.11) and an open enum (9.6).
    accepts: [[["stores", 0, "integration"], "a-platform-of-tomorrow"]],
  });

  checksResponses("organization.accounts.list", {
    call: (partner) => partner.organization.accounts.list(),
    wire: { accounts: [{ reference: ref("Account", "1") }] },
    refuses: [
      [["accounts", 0, "reference"], missing],
      [["accounts", 0, "reference"], "Account_short"],
    ],
  });

  checksResponses("organization.brands.list", {
    call: (partner) => partner.organization.brands.list(),
    wire: { brands: [{ reference: ref("Brand", "1") }] },
    refuses: [
      [["brands", 0, "reference"], missing],
      [["brands"], "none"],
    ],
  });
});
