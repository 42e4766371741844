import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { PodPartner } from "pod-partner";
import { nodeTransport } from "pod-partner/node";
import { createEmulator, emulatorHandlers } from "pod-partner/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { orderOf } from "../http/matrix/subjects.ts";
import { rejection } from "../support/exchange.ts";
import { secretKey, useService } from "../support/partner.ts";
import { clientOf } from "./support.ts";

describe("MSW", () => {
  const server = setupServer();
  const transport = nodeTransport();
  beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
  afterEach(() => server.resetHandlers());
  afterAll(() => server.close());

  it("gets the requests of nodeTransport, and its responses are read", async () => {
    const keys: unknown[] = [];
    server.use(
      http.post("https://partner.example/v2/auth/validate", ({ request }) => {
        keys.push(request.headers.get("x-service-secret-key"));
        return HttpResponse.json({ message: "The key is valid" });
      }),
    );
    const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey, transport });
    expect(await partner.auth.validate()).toEqual({ message: "The key is valid" });
    expect(keys).toEqual([secretKey]);
  });

  it("lets the emulator respond to reads and writes", async () => {
    const emulator = createEmulator();
    server.use(...emulatorHandlers(emulator));
    const { baseUrl, secretKey } = emulator;
    const partner = new PodPartner({ baseUrl, secretKey, transport });
    const { reference } = await partner.orders.create(orderOf(emulator, "shop-1"));
    expect(await partner.orders.get(reference)).toMatchObject({ reference });
    expect((await partner.orders.list().toArray()).map((order) => order.reference)).toContain(reference);
  });

  it("reports a network error as a ConnectionError", async () => {
    server.use(http.all("https://partner.example/*", () => HttpResponse.error()));
    const retry = { retries: 0 };
    const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey, transport, retry });
    expect(await rejection(partner.organization.get())).toMatchObject({ name: "ConnectionError" });
  });
});

describe("Node's diagnostics channel for HTTP clients", () => {
  const context = useService();

  it("reports each request, as instrumentation needs it", async () => {
    const started: string[] = [];
    const onStart = (message: unknown) => {
      const { request } = message as { readonly request: ClientRequest };
      started.push(`${request.method} ${request.path}`);
    };
    subscribe("http.client.request.start", onStart);
    context.service.respondAlways({ body: {} });
    await clientOf(context.service.origin).request("GET", "/things");
    unsubscribe("http.client.request.start", onStart);
    expect(started).toEqual(["GET /v2/things"]);
  });
});
