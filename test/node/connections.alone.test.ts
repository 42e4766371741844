import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { PodPartner } from "pod-partner";
import { nodeTransport } from "pod-partner/node";
import { createEmulator, type Emulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { orderOf } from "../http/matrix/subjects.ts";
import { watchSockets } from "../support/open-handles.ts";
import { png } from "../support/pictures.ts";
import { listen, listenRaw, responseText, valid } from "../support/raw-server.ts";
import { clientOf } from "./support.ts";

const limits = { default: { quota: 1_000_000, window: 60_000 } };

/** Lets an emulator in this process respond to a request of a server. */
async function respond(emulator: Emulator, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const { method = "GET", url = "/" } = incoming;
  const response = await emulator.fetch(`http://service.test${url}`, {
    method,
    headers: { "X-Service-Secret-Key": emulator.secretKey, "Content-Type": "application/json" },
    ...(method === "GET" ? {} : { body: Buffer.concat(chunks) }),
  });
  // The server keeps the connection, as far as the client can see.
  outgoing.writeHead(response.status, { "Content-Type": "application/json" }).end(await response.text());
}

describe("connections", () => {
  it("are kept for later reads, and carry one write each", async () => {
    const used: [string | undefined, object][] = [];
    const server = createServer((request, response) => {
      used.push([request.method, request.socket]);
      request.resume().on("end", () => response.setHeader("content-type", "application/json").end("{}"));
    });
    await using service = await listen(server);
    const partner = clientOf(service.origin);
    for (const method of ["GET", "GET", "POST", "POST", "GET", "PUT", "PATCH", "DELETE", "GET"] as const)
      await partner.request(method, "/things");
    const of = (kind: RegExp) => used.filter(([method = ""]) => kind.test(method)).map(([, socket]) => socket);
    expect(new Set(of(/GET/)).size).toBe(1);
    expect(new Set(of(/POST|PUT|PATCH|DELETE/)).size).toBe(5);
    expect(new Set(used.map(([, socket]) => socket)).size).toBe(6);
  });

  it("carry one write each, also if writes wait for one of `maxSockets` connections", async () => {
    const used: object[] = [];
    const server = createServer((request, response) => {
      used.push(request.socket);
      request.resume().on("end", () => response.setHeader("content-type", "application/json").end("{}"));
    });
    await using service = await listen(server);
    const partner = clientOf(service.origin, {}, { maxSockets: 1 });
    const methods = ["POST", "PUT", "PATCH", "DELETE", "POST"] as const;
    await Promise.all(methods.map((method) => partner.request(method, "/things")));
    expect([used.length, new Set(used).size]).toEqual([5, 5]);
  });

  it("place each of 500 orders once, and lose none, if the server closes each connection after a response", async () => {
    const emulator = createEmulator({ limits });
    const posts = () => emulator.requests.filter(({ method }) => method === "POST").length;
    let count = 0;
    const server = createServer((incoming, outgoing) => {
      // The connection ends together with the response or some turns of the event loop later.
      const turns = count++ % 8;
      outgoing.on("finish", async () => {
        for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
        incoming.socket.destroy();
      });
      void respond(emulator, incoming, outgoing);
    });
    await using service = await listen(server);
    const retry = { retries: 0 };
    const partner = new PodPartner({
      baseUrl: `${service.origin}/v2`,
      secretKey: "a-secret-key",
      transport: nodeTransport(),
      retry,
    });
    const references = new Set<string>();
    const lane = async (first: number) => {
      for (let number = first; number < 500; number += 4) {
        const { reference, recovered } = await partner.orders.create(orderOf(emulator, `shop-${number}`));
        expect(recovered).toBe(false);
        references.add(reference);
        if (number % 10 === 0) await partner.orders.get(reference as `Order_${string}`);
      }
    };
    await Promise.all([0, 1, 2, 3].map(lane));
    expect([references.size, posts()]).toEqual([500, 500]);
  });

  it("are not used again if the server closes them together with the response", async () => {
    await using server = await listenRaw((socket) => socket.end(valid));
    const partner = clientOf(server.origin);
    for (let number = 0; number < 200; number += 1) await partner.request("GET", "/things");
  });

  it("are used again at once only by a service that keeps them: one that closes them later costs one attempt", async () => {
    const served = new WeakMap<object, number>();
    await using server = await listenRaw((socket) => {
      const responses = (served.get(socket) ?? 0) + 1;
      served.set(socket, responses);
      if (responses < 3) socket.write(valid);
      else socket.end(valid);
    });
    const retries: unknown[] = [];
    const hooks = { onRetry: (event: unknown) => void retries.push(event) };
    const partner = clientOf(server.origin, { hooks, retry: { baseDelay: 0 } });
    for (let number = 0; number < 100; number += 1) await partner.request("GET", "/things");
    expect(retries.length).toBeLessThanOrEqual(1);
  });

  it("are not used again after bytes that belong to no request", async () => {
    let requests = 0;
    let stray: () => void = () => undefined;
    await using server = await listenRaw((socket) => {
      requests += 1;
      socket.write(responseText({ requests }));
      stray = () => void socket.write(responseText({ forged: true }));
    });
    const partner = clientOf(server.origin);
    for (let number = 1; number <= 5; number += 1) {
      expect(await partner.request("GET", "/things")).toEqual({ requests: number });
      stray();
      await expect.poll(() => server.sockets.size).toBe(0);
    }
  });

  it("are at most `maxSockets` at a time", async () => {
    const open: ServerResponse[] = [];
    const server = createServer((_, response) => {
      // Three requests wait for each other.
      if (open.push(response) === 3)
        for (const each of open.splice(0)) each.setHeader("content-type", "application/json").end("{}");
    });
    await using service = await listen(server);
    let most = 0;
    server.on("request", () => {
      most = Math.max(most, service.sockets.size);
    });
    const partner = clientOf(service.origin, {}, { maxSockets: 3 });
    await Promise.all(Array.from({ length: 30 }, () => partner.request("GET", "/things")));
    expect(most).toBe(3);
  });
});

describe("an early response", () => {
  it("ends an upload that the server does not read, and closes its connection", async () => {
    using sockets = watchSockets();
    let cancelled = false;
    const server = createServer((_, response) => {
      response.writeHead(413, { "content-type": "application/json" }).end('{"code":"too_large","message":"No."}');
    });
    await using service = await listen(server);
    const head = Uint8Array.from(png);
    let chunks = 0;
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(chunks++ === 0 ? head : new Uint8Array(65_536)),
      cancel: () => {
        cancelled = true;
      },
    });
    await expect(clientOf(service.origin).images.upload(source)).rejects.toMatchObject({
      status: 413,
      code: "too_large",
    });
    await expect.poll(() => cancelled).toBe(true);
    await expect.poll(() => sockets.open).toBe(0);
  });
});
