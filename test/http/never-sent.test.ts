// It reads the platform's classes when it loads: import it before a test replaces one.
import "ky";
import { afterEach, describe, expect, it, vi } from "vitest";
import { rejection } from "../support/exchange.ts";
import { combinedOrder } from "../support/orders.ts";
import { partnerWith } from "../support/partner.ts";

describe("a request that cannot be sent", () => {
  afterEach(() => void vi.unstubAllGlobals());

  it("throws a ConnectionError with sent: false, also for a creation", async () => {
    const sent: unknown[] = [];
    const fetch = async (request: Request) => {
      sent.push(request);
      return Response.json({});
    };
    const partner = partnerWith({ fetch, retry: { retries: 0 } });
    vi.stubGlobal(
      "Headers",
      class {
        constructor() {
          throw new TypeError("no such headers");
        }
      },
    );
    for (const call of [partner.orders.create(combinedOrder), partner.request("POST", "/things")]) {
      expect(await rejection(call)).toMatchObject({ name: "ConnectionError", sent: false });
    }
    expect(sent).toEqual([]);
  });
});
