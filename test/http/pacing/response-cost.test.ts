import { describe, expect, it } from "vitest";
import { GatewayLimit } from "../../../src/http/pacing/gateway-limit.ts";
import { scanned } from "../../support/scanned.ts";

describe("the time that a response takes", () => {
  it("does not grow with the number of responses in the last second", async () => {
    const limit = new GatewayLimit();
    const responses = 30_000;
    const elements = await scanned(() => {
      for (let request = 0; request < responses; request += 1) {
        limit.end(limit.take(0), "served", 0);
      }
    });
    // Hundreds of millions when each response goes through all responses before it.
    expect(elements).toBeLessThan(4 * responses);
  });
});
