import { createServer } from "node:https";
import { createServer as createTcpServer } from "node:net";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { selfSigned } from "../runtimes/self-signed.ts";
import { rejection } from "../support/exchange.ts";
import { combinedOrder } from "../support/orders.ts";
import { type Listening, listen, listenRaw, valid } from "../support/raw-server.ts";
import { clientOf } from "./support.ts";

const { cert: ca } = selfSigned;

/** A server whose certificate is for 127.0.0.1, and the methods of the requests that it received. */
async function startTls(): Promise<Listening & { readonly methods: readonly (string | undefined)[] }> {
  const methods: (string | undefined)[] = [];
  const server = createServer(selfSigned, (request, response) => {
    methods.push(request.method);
    response.setHeader("content-type", "application/json").end(JSON.stringify({ message: "The key is valid" }));
  });
  return { ...(await listen(server, "https")), methods };
}

describe("TLS", () => {
  it("trusts the authority of the option `ca`, as text or as bytes", async () => {
    await using server = await startTls();
    for (const option of [ca, [ca], Buffer.from(ca), Uint8Array.from(Buffer.from(ca))]) {
      const partner = clientOf(server.origin, {}, { ca: option });
      expect(await partner.auth.validate()).toEqual({ message: "The key is valid" });
    }
    expect(server.methods).toHaveLength(4);
  });

  it("trusts no other authority: the request is not sent, a creation too", async () => {
    await using server = await startTls();
    const partner = clientOf(server.origin);
    for (const call of [partner.organization.get(), partner.orders.create(combinedOrder)]) {
      const error = await rejection(call);
      expect(error).toMatchObject({ name: "ConnectionError", sent: false });
      expect(String(error)).toMatch(/self-signed certificate|DEPTH_ZERO_SELF_SIGNED_CERT/);
    }
    expect(server.methods).toEqual([]);
  });

  it("refuses a certificate for another host before it sends the request", async () => {
    await using server = await startTls();
    const partner = clientOf(server.origin.replace("127.0.0.1", "localhost"), {}, { ca });
    for (const call of [partner.organization.get(), partner.orders.create(combinedOrder)]) {
      const error = await rejection(call);
      expect(error).toMatchObject({ name: "ConnectionError", sent: false });
      expect(String(error)).toMatch(/ERR_TLS_CERT_ALTNAME_INVALID/);
    }
    expect(server.methods).toEqual([]);
  });

  it("refuses a server that speaks no TLS", async () => {
    await using server = await listenRaw((socket) => socket.end(valid));
    const partner = clientOf(`https://127.0.0.1:${server.port}`);
    expect(await rejection(partner.orders.create(combinedOrder))).toMatchObject({
      name: "ConnectionError",
      sent: false,
    });
  });

  it("gives up a handshake that does not end after `connectTimeout`: the request is not sent", async () => {
    await using server = await listen(createTcpServer((socket) => void socket.resume()));
    const clock = createManualClock();
    const partner = clientOf(`https://127.0.0.1:${server.port}`, { clock }, { connectTimeout: 5_000 });
    const failure = rejection(partner.orders.create(combinedOrder));
    await expect.poll(() => server.sockets.size).toBe(1);
    await clock.advance(5_000);
    const error = await failure;
    expect(error).toMatchObject({ name: "ConnectionError", sent: false });
    expect(String(error)).toContain("no connection within 5000 ms");
    await expect.poll(() => server.sockets.size).toBe(0);
  });
});
