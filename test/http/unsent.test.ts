import { inspect } from "node:util";
import { PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { dropshipOrder } from "../support/orders.ts";
import { secretKey } from "../support/partner.ts";
import { startStubService } from "../support/stub-service.ts";
import { transports } from "../support/transports.ts";

/** The text of an error and of all its causes. */
function* chain(error: unknown): Generator<Error> {
  for (let at = error; at instanceof Error; at = at.cause) yield at;
}

describe.each(transports)("over $name", ({ over }) => {
  describe("a request that cannot be sent", () => {
    it("is not part of the error or its causes: it contains a customer's address", async () => {
      const gone = await startStubService();
      await gone.close();
      const partner = new PodPartner({ baseUrl: gone.baseUrl, secretKey, retry: { retries: 0 }, ...over });
      const error = await rejection(partner.orders.create(dropshipOrder));
      expect(error).toMatchObject({ name: "ConnectionError", sent: false });
      for (const each of chain(error)) {
        const carried = Reflect.ownKeys(each).map((key): unknown => Reflect.get(each, key));
        expect(carried.filter((value) => value instanceof Request)).toEqual([]);
      }
    });

    it("does not show its query, which contains a customer's order", async () => {
      const gone = await startStubService();
      await gone.close();
      const partner = new PodPartner({ baseUrl: gone.baseUrl, secretKey, retry: { retries: 0 }, ...over });
      const error = await rejection(partner.orders.lookup({ customIdentifier: "jansen-1001" }));
      expect(error).toMatchObject({ name: "ConnectionError" });
      expect(inspect(error, { depth: null })).not.toContain("jansen-1001");
    });
  });
});
