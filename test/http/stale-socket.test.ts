import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { PodPartner } from "pod-partner";
import { createEmulator, type Emulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { createFastClock } from "../support/fast-clock.ts";
import { harsh } from "../support/harsh.ts";
import { listen } from "../support/raw-server.ts";
import { clientOf, transports } from "../support/transports.ts";
import { orderOf } from "./matrix/subjects.ts";

/** Requests that a connection serves before it breaks without notice. */
const limit = 5;
const served = new WeakMap<object, number>();

async function serve(emulator: Emulator, incoming: IncomingMessage, outgoing: ServerResponse) {
  const count = (served.get(incoming.socket) ?? 0) + 1;
  served.set(incoming.socket, count);
  if (count > limit) return void incoming.socket.destroy();
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const { method = "GET", url = "/", headers } = incoming;
  const response = await emulator.fetch(`http://service.test${url}`, {
    method,
    headers: { "X-Service-Secret-Key": emulator.secretKey, "Content-Type": headers["content-type"] ?? "" },
    ...(method === "GET" ? {} : { body: Buffer.concat(chunks) }),
  });
  outgoing.writeHead(response.status, { "Content-Type": "application/json" }).end(await response.text());
}

describe.each(transports)("over $name", ({ over }) => {
  it("places each order once when reused connections are sometimes stale", async () => {
    const emulator = createEmulator(harsh);
    const server = createServer((incoming, outgoing) => void serve(emulator, incoming, outgoing));
    await using service = await listen(server);
    const options = { clock: createFastClock(200), timeout: 200, retry: { baseDelay: 0 } };
    const partner = clientOf(service.origin, { ...options, ...over });
    const references = new Set<string>();
    for (let number = 0; number < 20; number++) {
      references.add((await partner.orders.create(orderOf(emulator, `shop-${number}`))).reference);
    }
    const { baseUrl, secretKey, fetch } = emulator;
    const made = await new PodPartner({ baseUrl, secretKey, fetch }).orders.list().toArray();
    expect([references.size, made.length]).toEqual([20, 20]);
  });
});
