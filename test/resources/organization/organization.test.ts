import { describe, expect, it } from "vitest";
import { useExchange } from "../../support/exchange.ts";
import { ref } from "../../support/references.ts";

describe("organization (specification 2.11, 4.2)", () => {
  const { exchange } = useExchange();

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
});
