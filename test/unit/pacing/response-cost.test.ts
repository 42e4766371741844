import { describe, expect, it } from "vitest";
import { GatewayLimit } from "../../../src/http/pacing/gateway-limit.ts";
import { parseRateLimit } from "../../../src/http/pacing/headers.ts";
import { scanned } from "../../support/scanned.ts";

const headers = (policy: string, limit: string) => new Headers({ "x-ratelimit-policy": policy, "x-ratelimit": limit });

describe("the time that a response takes", () => {
  it("does not include parsing the headers of the previous response again", () => {
    const first = parseRateLimit(headers('"default";q=600;w=30', '"default";r=17;t=0'));
    expect(parseRateLimit(headers('"default";q=600;w=30', '"default";r=17;t=0'))).toBe(first);
    expect(first.get("default")).toEqual({ quota: 600, window: 30_000, remaining: 17, empty: false });
  });

  it("includes parsing each header that changed", () => {
    parseRateLimit(headers('"default";q=600;w=30', '"default";r=17;t=0'));
    const lower = parseRateLimit(headers('"default";q=600;w=30', '"default";r=16;t=0'));
    expect(lower.get("default")).toMatchObject({ quota: 600, remaining: 16 });
    const other = parseRateLimit(headers('"default";q=300;w=30', '"default";r=16;t=0'));
    expect(other.get("default")).toMatchObject({ quota: 300, remaining: 16 });
    expect(parseRateLimit(new Headers()).size).toBe(0);
  });

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
