import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { PodPartner, RequestValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { combinedOrder } from "../support/orders.ts";
import { secretKey, useService } from "../support/partner.ts";
import { jpeg } from "../support/pictures.ts";
import { ref } from "../support/references.ts";
import { startStubService } from "../support/stub-service.ts";
import { transports } from "../support/transports.ts";

describe.each(transports)("over $name", ({ over }) => {
  it("a service whose host is an IPv6 address is reached", async () => {
    await using server = createServer(({ headers }, response) => {
      response.setHeader("connection", "close").end(JSON.stringify({ message: headers.host }));
    }).listen(0, "::1");
    await once(server, "listening");
    const host = `[::1]:${(server.address() as AddressInfo).port}`;
    const partner = new PodPartner({ baseUrl: `http://${host}/v2`, secretKey, ...over });
    expect(await partner.auth.validate()).toEqual({ message: host });
  });

  it.each(["GET", "POST"] as const)("a header of a %s arrives in the same encoding", async (method) => {
    const received: (readonly string[])[] = [];
    await using server = createServer(({ rawHeaders }, response) => {
      received.push(rawHeaders);
      response.setHeader("connection", "close").end("{}");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`;
    const partner = new PodPartner({ baseUrl, secretKey, ...over });
    const headers = { "X-Name": "\u00e9" };
    await partner.request(method, "/things", { headers, ...(method === "POST" && { body: { name: "\u00e9" } }) });
    const [at] = received.map((all) => all.findIndex((text) => text.toLowerCase() === "x-name"));
    expect(received[0]?.[(at ?? 0) + 1]).toBe("\u00e9");
  });

  describe("the secret key is sent to no other place (law 1)", () => {
    const context = useService(over);

    it.each([
      ["GET", 302, () => context.partner.orders.get(ref("Order"))],
      ["GET", 308, () => context.partner.orders.list().toArray()],
      ["POST", 307, () => context.partner.orders.create(combinedOrder)],
      ["POST", 301, () => context.partner.images.upload(jpeg)],
      ["GET", 307, () => context.partner.renders.media(ref("Render"))],
    ] as const)("is not sent along a redirect of a %s with %i", async (_, status, call) => {
      await using other = await startStubService();
      context.service.respond({ status, headers: { location: `${other.baseUrl}/orders` } });
      expect(await rejection(call())).toMatchObject({ name: "RedirectError" });
      expect(other.requests).toHaveLength(0);
      expect(context.service.requests).toHaveLength(1);
    });

    it("is not shown when a service uses it as a policy name", async () => {
      const headers = { "x-ratelimit-policy": `"${secretKey}";q=1;w=60`, "x-ratelimit": `"${secretKey}";r=0;t=60` };
      const paused: unknown[] = [];
      const partner = context.connect({ ...over, hooks: { onPause: (event) => paused.push(event) } });
      context.service.respondAlways({ headers, body: { message: "Yes." } });
      await partner.auth.validate();
      const error = await rejection(partner.auth.validate({ deadline: 20 }));
      expect(paused).toHaveLength(1);
      expect(inspect([partner.rateLimits, paused, error], { depth: null })).not.toContain(secretKey);
    });

    it.each(["X-Service-Secret-Key", "x-service-secret-key"])("refuses a header %s of the caller", async (name) => {
      const call = context.partner.auth.validate({ headers: { [name]: "another", "x-more": "1" } });
      expect(await rejection(call)).toMatchObject({
        name: "RequestValidationError",
        issues: [{ path: ["headers", name] }],
      });
      expect(context.service.requests).toHaveLength(0);
    });

    it("is in one header, and nowhere else in the request", async () => {
      context.service.respond({ body: { order: { reference: ref("Order") } } });
      await context.partner.orders.create(combinedOrder);
      const { headers, path, body } = context.service.requests[0] ?? expect.fail("nothing was sent");
      const { "x-service-secret-key": key, ...others } = headers;
      expect(key).toBe(secretKey);
      expect(JSON.stringify(others) + path + body.toString()).not.toContain(secretKey);
    });

    it.each([
      "//evil.example/v2",
      "http://evil.example/",
      "@evil.example/",
      ":80@evil.example/",
      ".evil.example/",
      "\\\\evil.example",
      "/\\evil.example",
      "/../v1/orders",
      "/orders/../../v1",
      "/%2e%2e/v1",
      "/orders/%2E%2E/%2e./v1",
      "/orders/.",
      "/a\tb",
      "/a\n/b",
      "/a?b=c",
      "/a#b",
      "orders",
      "",
    ])("is not sent outside the base URL by a request to %j", async (path) => {
      const error = await rejection(context.partner.request("GET", path));
      expect(RequestValidationError.isInstance(error)).toBe(true);
      expect(context.service.requests).toHaveLength(0);
    });

    it("is sent to an endpoint that the SDK does not know yet", async () => {
      context.service.respond({ body: { anything: [1] } });
      const response = await context.partner.request("POST", "/new-things", {
        query: { a: "b c" },
        body: { thing: { x: 1 } },
      });
      expect(response).toStrictEqual({ anything: [1] });
      const [request] = context.service.requests;
      expect(`${request?.method} ${request?.path}`).toMatch(/^POST \/v2\/new-things\?a=b(\+|%20)c$/);
      expect(request?.headers).toMatchObject({ "x-service-secret-key": secretKey, "content-type": "application/json" });
      expect(JSON.parse(request?.body.toString() ?? "")).toStrictEqual({ thing: { x: 1 } });
    });
  });
});
