import { once } from "node:events";
import { Agent, createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { PodPartner } from "pod-partner";
import { createOrderUpdatedReceiver, type OrderUpdatedReceiverOptions } from "pod-partner/callbacks";
import { createManualClock, startEmulator } from "pod-partner/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { collectGarbage } from "../support/garbage.ts";
import { ref } from "../support/references.ts";
import { callbackQuery, token } from "./support.ts";

const heap = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

/** Another valid reference for each number. */
const invented = (number: number) => ref("Order", `f${number}`);

/** The service, a shop with a receiver on `node:http`, and a sender of callbacks. */
async function startShop(options: Partial<OrderUpdatedReceiverOptions> = {}) {
  const emulator = await startEmulator({ seed: { orders: 20 } });
  const { baseUrl, secretKey } = emulator;
  const partner = new PodPartner({ baseUrl, secretKey });
  const references = (await partner.orders.list().toArray()).map(({ reference }) => reference);
  let reads = 0;
  const counted = new PodPartner({ baseUrl, secretKey, hooks: { onRequest: () => reads++ } });
  const handled = new Set<string>();
  const receiver = createOrderUpdatedReceiver({
    partner: counted,
    token: false,
    onOrderUpdated: ({ orderReference }) => handled.add(orderReference),
    onError: () => undefined,
    ...options,
  });
  const server = createServer(receiver.node);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const agent = new Agent({ keepAlive: true });
  onTestFinished(async () => {
    agent.destroy();
    await receiver.close();
    server.closeAllConnections();
    server.close();
    await emulator.close();
  });
  const { port } = server.address() as AddressInfo;
  /** Sends a callback as specification 6 says, and resolves with the status. */
  const send = (changes: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      const path = `/callbacks?${callbackQuery(changes)}`;
      get({ port, host: "127.0.0.1", path, agent }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode ?? 0));
      }).on("error", reject);
    });
  return { references, send, handled, reads: () => reads };
}

/** Sends forged callbacks over 50 connections. Resolves with the number of responses of each status. */
async function flood(callbacks: number, send: (number: number) => Promise<number>) {
  const statuses: Record<number, number> = {};
  let next = 0;
  const connection = async () => {
    while (next < callbacks) {
      const status = await send(next++);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 50 }, connection));
  return statuses;
}

describe("forged callbacks", () => {
  it("with a token cost no request and no memory, and honest ones are handled meanwhile", async () => {
    const { references, send, handled, reads } = await startShop({ token });
    const forge = (number: number) => send({ token: `forged-${number}`, order_reference_v2: invented(number) });
    await flood(1_000, forge);
    const before = heap();
    let over = false;
    let refused = 0;
    const counted = async (number: number) => {
      const status = await forge(number);
      refused += 1;
      return status;
    };
    const flooding = flood(10_000, counted).finally(() => {
      over = true;
    });
    const overtaken: number[] = [];
    while (!over) {
      const refusedBefore = refused;
      expect(await send({ order_reference_v2: references[overtaken.length % references.length] ?? "" })).toBe(204);
      overtaken.push(refused - refusedBefore);
    }
    expect(await flooding).toEqual({ 403: 10_000 });
    const grown = heap() - before;
    // 50 connections send forged ones: about 50 responses come before that of an honest one.
    expect(Math.max(...overtaken)).toBeLessThan(1_000);
    expect(reads()).toBe(overtaken.length);
    expect(handled.size).toBe(references.length);
    expect(grown).toBeLessThan(5_000_000);
  });

  it("without a token cost a bounded number of requests, and honest ones are handled when they are repeated", async () => {
    const clock = createManualClock();
    const { references, send, handled, reads } = await startShop({ clock });
    const statuses = await flood(2_000, (number) => send({ order_reference_v2: invented(number) }));
    // 100 orders may be missing, and those in work when the limit is reached.
    expect(reads()).toBeLessThanOrEqual(103);
    expect(statuses).toEqual({ 204: reads(), 503: 2_000 - reads() });
    const refused = await Promise.all(references.map((reference) => send({ order_reference_v2: reference })));
    expect(refused.every((status) => status === 503)).toBe(true);
    await clock.advance(5 * 60_000);
    const repeated = await Promise.all(references.map((reference) => send({ order_reference_v2: reference })));
    expect(repeated.every((status) => status === 204)).toBe(true);
    expect(handled.size).toBe(references.length);
  });
});
