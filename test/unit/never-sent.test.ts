// It looks at the platform when it is loaded: before anything is taken away here.
import "ky";
import { runInNewContext } from "node:vm";
import { ApiError, PodPartner } from "pod-partner";
import { afterEach, describe, expect, it, vi } from "vitest";
import { rejection } from "../support/exchange.ts";
import { combinedOrder } from "../support/orders.ts";
import { secretKey, useService } from "../support/partner.ts";
import { png } from "../support/pictures.ts";

describe("a request that cannot be made", () => {
  afterEach(() => void vi.unstubAllGlobals());

  it("was never sent: a creation does not end as one whose outcome is unknown", async () => {
    const sent: unknown[] = [];
    const fetch = async (request: Request) => {
      sent.push(request);
      return Response.json({});
    };
    const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey, fetch, retry: { retries: 0 } });
    vi.stubGlobal(
      "Request",
      class {
        constructor() {
          throw new TypeError("no such request");
        }
      },
    );
    for (const call of [partner.orders.create(combinedOrder), partner.request("POST", "/things")]) {
      expect(await rejection(call)).toMatchObject({ name: "ConnectionError", sent: false });
    }
    expect(sent).toEqual([]);
  });
});

describe("an error of another realm, as a test runner such as Jest has one of its own", () => {
  it("is read like any other: nobody could be reached, so nothing was sent", async () => {
    const refused = 'Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED", syscall: "connect" })';
    const fetch = () => Promise.reject(runInNewContext(`new TypeError("fetch failed", { cause: ${refused} })`));
    const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey, fetch, retry: { retries: 0 } });
    expect(await rejection(partner.orders.create(combinedOrder))).toMatchObject({
      name: "ConnectionError",
      sent: false,
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });
});

describe("a proxy that asks for its own credentials (407)", () => {
  const context = useService();

  it.each([
    ["a read", () => context.partner.auth.validate()],
    ["a creation", () => context.partner.orders.create(combinedOrder)],
    ["an upload of bytes", () => context.partner.images.upload(png)],
    ["an upload of a blob", () => context.partner.images.upload(new Blob([Uint8Array.from(png)]))],
  ])("is told as what it is, and asked once, for %s", async (_, call) => {
    context.service.always({ status: 407, headers: { "proxy-authenticate": "Basic" }, body: "log in" });
    const error = await rejection(call());
    if (!ApiError.isInstance(error)) throw error;
    expect(error.status).toBe(407);
    expect(error.message).toMatch(/answered 407: a proxy .* credentials/);
    expect(context.service.requests).toHaveLength(1);
  });

  it("is told the same from a fetch that gives such an answer", async () => {
    const fetch = async () => new Response("log in", { status: 407 });
    const partner = new PodPartner({ baseUrl: context.service.baseUrl, secretKey, fetch });
    const error = await rejection(partner.orders.create(combinedOrder));
    expect(error).toMatchObject({
      name: "ApiError",
      status: 407,
      message: expect.stringMatching(/a proxy .* credentials/),
    });
  });

  it("or that refuses to make a tunnel: nothing was sent", async () => {
    const refused = new Error("Proxy response (407) !== 200 when HTTP Tunneling");
    const fetch = () => Promise.reject(new TypeError("fetch failed", { cause: refused }));
    const partner = new PodPartner({ baseUrl: context.service.baseUrl, secretKey, fetch, retry: { retries: 0 } });
    const error = await rejection(partner.orders.create(combinedOrder));
    expect(error).toMatchObject({ name: "ConnectionError", sent: false, message: expect.stringContaining("(407)") });
  });
});
