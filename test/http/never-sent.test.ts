// It reads the platform's classes when it loads: import it before a test replaces one.
import "ky";
import { runInNewContext } from "node:vm";
import { PodPartner } from "pod-partner";
import { afterEach, describe, expect, it, vi } from "vitest";
import { rejection } from "../support/exchange.ts";
import { combinedOrder } from "../support/orders.ts";
import { partnerWith, secretKey } from "../support/partner.ts";

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

describe("an error of another realm, such as that of a Jest test", () => {
  it("is read like an error of this realm: its code shows that no request was sent", async () => {
    const refused = 'Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED", syscall: "connect" })';
    const fetch = () => Promise.reject(runInNewContext(`new TypeError("fetch failed", { cause: ${refused} })`));
    const partner = partnerWith({ fetch, retry: { retries: 0 } });
    expect(await rejection(partner.orders.create(combinedOrder))).toMatchObject({
      name: "ConnectionError",
      sent: false,
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });
});

describe("a proxy that requires credentials (407)", () => {
  const baseUrl = "https://partner.example/v2";

  it("causes the same error when fetch returns the response", async () => {
    const fetch = async () => new Response("log in", { status: 407 });
    const partner = new PodPartner({ baseUrl, secretKey, fetch });
    const error = await rejection(partner.orders.create(combinedOrder));
    expect(error).toMatchObject({
      name: "ApiError",
      status: 407,
      message: expect.stringMatching(/a proxy .* credentials/),
    });
  });

  it("causes a ConnectionError with sent: false when it refuses a tunnel", async () => {
    const refused = new Error("Proxy response (407) !== 200 when HTTP Tunneling");
    const fetch = () => Promise.reject(new TypeError("fetch failed", { cause: refused }));
    const partner = new PodPartner({ baseUrl, secretKey, fetch, retry: { retries: 0 } });
    const error = await rejection(partner.orders.create(combinedOrder));
    expect(error).toMatchObject({ name: "ConnectionError", sent: false, message: expect.stringContaining("(407)") });
  });
});
