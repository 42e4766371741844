import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { combinedOrder } from "../support/orders.ts";
import { secretKey, useService } from "../support/partner.ts";
import { jpeg } from "../support/pictures.ts";
import { listen } from "../support/raw-server.ts";
import { ref } from "../support/references.ts";
import { startStubService } from "../support/stub-service.ts";
import { clientOf, transports } from "../support/transports.ts";

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
    const server = createServer(({ rawHeaders }, response) => {
      received.push(rawHeaders);
      response.end("{}");
    });
    await using service = await listen(server);
    const partner = clientOf(service.origin, over);
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

    it("is in one header, and nowhere else in the request", async () => {
      context.service.respond({ body: { order: { reference: ref("Order") } } });
      await context.partner.orders.create(combinedOrder);
      const { headers, path, body } = context.service.requests[0] ?? expect.fail("nothing was sent");
      const { "x-service-secret-key": key, ...others } = headers;
      expect(key).toBe(secretKey);
      expect(JSON.stringify(others) + path + body.toString()).not.toContain(secretKey);
    });
  });
});
