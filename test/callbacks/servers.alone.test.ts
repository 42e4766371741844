import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import { connect, createServer as createSecure } from "node:http2";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import type { OrderUpdatedReceiver } from "pod-partner/callbacks";
import { describe, expect, it, onTestFinished } from "vitest";
import type { NodeResponse } from "../../src/callbacks/receiver.ts";
import { ref } from "../support/references.ts";
import { callbackQuery, createReceiver, settled } from "./support.ts";

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

async function listen(server: Server): Promise<number> {
  if (!server.listening) await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close().closeAllConnections());
  return portOf(server);
}

/** How each kind of server mounts the receiver at /callbacks. Returns the port. */
const servers: Readonly<Record<string, (receiver: OrderUpdatedReceiver) => Promise<number>>> = {
  "node:http": (receiver) => listen(createServer(receiver.node)),
  Express: (receiver) => listen(createServer(express().get("/callbacks", receiver.node))),
  "Express, mounted": (receiver) => listen(createServer(express().use("/callbacks", receiver.node))),
  Fastify: async (receiver) => {
    const app = fastify();
    app.get("/callbacks", (incoming, reply) => {
      reply.hijack();
      return receiver.node(incoming.raw, reply.raw);
    });
    await app.listen({ port: 0, host: "127.0.0.1" });
    onTestFinished(() => app.close());
    return portOf(app.server);
  },
  Hono: async (receiver) => {
    const app = new Hono().get("/callbacks", (context) => receiver.fetch(context.req.raw));
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as Server;
    if (!server.listening) await once(server, "listening");
    return listen(server);
  },
};

describe.each(Object.entries(servers))("on %s", (_, start) => {
  it("a callback has its order handled, and receives the status and the text of the receiver", async () => {
    const { receiver, reads } = createReceiver();
    const port = await start(receiver);
    const call = (changes?: Record<string, string>) =>
      fetch(`http://127.0.0.1:${port}/callbacks?${callbackQuery(changes)}`);
    const good = await call({ custom_reference: "shop 1001" });
    expect([good.status, await good.text(), good.headers.get("cache-control")]).toEqual([204, "", "no-store"]);
    const forged = await call({ token: "wrong" });
    expect([forged.status, await forged.text()]).toEqual([403, "The parameter `token` is missing or wrong.\n"]);
    const broken = await call({ environment: "live" });
    expect([broken.status, broken.headers.get("content-type")]).toEqual([400, "text/plain; charset=utf-8"]);
    expect(reads.map(([reference]) => reference)).toEqual([ref("Order", "1")]);
  });

  it("a client that disconnects does not stop the work, and harms nothing", async () => {
    const began = Promise.withResolvers<AbortSignal>();
    const gate = Promise.withResolvers<void>();
    const { receiver, failures } = createReceiver({
      onOrderUpdated: async ({ signal }) => {
        began.resolve(signal);
        await gate.promise;
        throw new Error("failed after the client left");
      },
    });
    const port = await start(receiver);
    const client = request({ port, host: "127.0.0.1", path: `/callbacks?${callbackQuery()}` }).end();
    client.on("error", () => undefined);
    const signal = await began.promise;
    await new Promise((resolve) => client.on("close", resolve).destroy());
    await settled();
    expect(signal.aborted).toBe(false);
    gate.resolve();
    await receiver.close();
    expect(failures).toHaveLength(1);
    expect((await fetch(`http://127.0.0.1:${port}/callbacks?${callbackQuery()}`)).status).toBe(503);
  });
});

describe("on Node", () => {
  it("an HTTP/2 callback has its order handled", async () => {
    const server = createSecure(createReceiver().receiver.node);
    await once(server.listen(0, "127.0.0.1"), "listening");
    const session = connect(`http://127.0.0.1:${portOf(server)}`);
    onTestFinished(() => {
      session.close();
      server.close();
    });
    const stream = session.request({ ":path": `/callbacks?${callbackQuery()}` });
    const [head] = await once(stream, "response");
    expect(head[":status"]).toBe(204);
    stream.close();
  });

  it("a response that a middleware has begun stays as it is", async () => {
    const { receiver } = createReceiver({ onOrderUpdated: () => Promise.reject(new Error("failed")) });
    const port = await listen(
      createServer(async (incoming, response) => {
        response.writeHead(504).write("too ");
        await receiver.node(incoming, response);
        response.end("late");
      }),
    );
    const received = await fetch(`http://127.0.0.1:${port}/callbacks?${callbackQuery()}`);
    expect([received.status, await received.text()]).toEqual([504, "too late"]);
  });

  it.each<[string, NodeResponse]>([
    ["was sent by a server that does not say so", sent("writeHead")],
    ["has lost its connection before its end", sent("end")],
    [
      "is a double without methods",
      // @ts-expect-error: a JavaScript caller's double
      {},
    ],
  ])("a response that %s does not make `node` reject, and the order was handled", async (_, response) => {
    const { receiver, reads } = createReceiver();
    await receiver.node({ method: "GET", url: `/callbacks?${callbackQuery()}` }, response);
    expect(reads).toHaveLength(1);
  });
});

/** A response of which one method throws. */
function sent(broken: "writeHead" | "end"): NodeResponse {
  const fail = () => {
    throw Object.assign(new Error("write after end"), { code: "ERR_STREAM_WRITE_AFTER_END" });
  };
  return { headersSent: false, writeHead: () => undefined, end: () => undefined, [broken]: fail };
}
