import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { PodPartnerError } from "pod-partner";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { watchSockets } from "../support/open-handles.ts";
import { combinedOrder } from "../support/orders.ts";
import { secretKey } from "../support/partner.ts";
import { listenRaw } from "../support/raw-server.ts";
import { ref } from "../support/references.ts";
import { shown } from "../support/shown.ts";
import { clientOf, transports } from "../support/transports.ts";

const body = Buffer.from(JSON.stringify({ message: "x".repeat(300), orders: [], nextCursor: null }));
const head = (...lines: readonly string[]) => Buffer.from(`HTTP/1.1 ${lines.join("\r\n")}\r\n\r\n`);
const chunked = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")]);
const gzipped = gzipSync(body);
const json = "Content-Type: application/json";

/** Valid responses, which a case then damages. */
const responses: readonly Buffer[] = [
  Buffer.concat([head("200 OK", json, `Content-Length: ${body.length}`), body]),
  Buffer.concat([head("200 OK", json, "Transfer-Encoding: chunked"), chunked]),
  Buffer.concat([head("200 OK", json, "Content-Encoding: gzip", `Content-Length: ${gzipped.length}`), gzipped]),
  Buffer.concat([head("200 OK", "Content-Type: image/png", `Content-Length: ${body.length}`), body]),
  Buffer.concat([head("103 Early Hints", "Link: </x>"), head("204 No Content")]),
  Buffer.concat([head("302 Found", "Location: https://elsewhere.example/", "Content-Length: 0")]),
  Buffer.concat([head("429 Too Many Requests", json, "Retry-After: 0", "Content-Length: 2"), Buffer.from("{}")]),
  Buffer.concat([head("500 Internal Server Error", "Content-Type: text/html"), body]),
  head("101 Switching Protocols", "Connection: upgrade", "Upgrade: websocket"),
];

/** A value in every third case, otherwise null. */
const seldom = <Value>(arbitrary: fc.Arbitrary<Value>) =>
  fc.oneof({ arbitrary: fc.constant(null), weight: 2 }, { arbitrary, weight: 1 });

const damage = fc.record({
  response: fc.constantFrom(...responses),
  /** Bytes that are replaced, by their place and their new value. */
  bytes: fc.array(fc.tuple(fc.nat(500), fc.integer({ min: 0, max: 255 })), { maxLength: 3 }),
  cut: seldom(fc.nat(500)),
  twice: fc.boolean(),
  /** Bytes in one write. */
  size: fc.constantFrom(1, 7, 100, 10_000),
  ending: fc.constantFrom("keep", "end", "destroy", "reset"),
  early: fc.boolean(),
  /** Turns of the event loop after which the call is aborted. */
  abortAfter: seldom(fc.nat(20)),
  call: fc.nat(4),
});
type Damage = typeof damage extends fc.Arbitrary<infer Value> ? Value : never;

async function play({ response, bytes, cut, twice, size, ending }: Damage, socket: Socket): Promise<void> {
  const whole = Buffer.concat(twice ? [response, response] : [response]);
  for (const [place, value] of bytes) whole[place % whole.length] = value;
  const damaged = whole.subarray(0, cut ?? whole.length);
  socket.setNoDelay(true);
  for (let at = 0; at < damaged.length; at += size) {
    socket.write(damaged.subarray(at, at + size));
    if (at % 50 === 0) await new Promise(setImmediate);
  }
  if (ending === "end") socket.end();
  if (ending === "destroy") socket.destroy();
  if (ending === "reset") socket.resetAndDestroy();
}

const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", onUnhandled));
afterAll(() => void process.off("unhandledRejection", onUnhandled));

describe.each(transports)("over $name", ({ over }) => {
  it("a server that damages its responses causes one typed error for each call, and leaves nothing open", async () => {
    using sockets = watchSockets();
    let current: Damage | undefined;
    const busy = new WeakSet<Socket>();
    await using server = await listenRaw((socket, data) => {
      const complete = /\r\n\r\n/.test(data.toString("latin1"));
      if (current === undefined || busy.has(socket) || !(complete || current.early)) return;
      busy.add(socket);
      void play(current, socket).then(() => busy.delete(socket));
    });
    const partner = clientOf(server.origin, { timeout: 60, deadline: 60, pacing: false, ...over });
    const seen = new Map<string, number>();
    const property = fc.asyncProperty(damage, async (given) => {
      current = given;
      const controller = new AbortController();
      const { signal } = controller;
      const calls = [
        () => partner.request("GET", "/things", { signal }),
        () => partner.orders.create(combinedOrder, { signal }),
        () => partner.orders.list({ signal }).toArray(),
        () => partner.renders.media(ref("Render"), { signal }).then((download) => download.bytes()),
        () => partner.request("POST", "/things", { signal, body: { long: "x".repeat(200_000) } }),
      ];
      const outcome = Promise.resolve(calls[given.call]?.()).then(
        () => undefined,
        (error: unknown) => error,
      );
      for (let turns = given.abortAfter ?? 0; turns > 0; turns -= 1) await new Promise(setImmediate);
      if (given.abortAfter !== null) controller.abort("enough");
      const error = await outcome;
      const name = error instanceof Error ? error.name : String(error);
      seen.set(name, (seen.get(name) ?? 0) + 1);
      if (error === undefined || error === "enough") return;
      expect(error).toBeInstanceOf(PodPartnerError);
      expect((error as Error).name).not.toBe("UnexpectedError");
      expect(shown(error)).not.toContain(secretKey);
    });
    await fc.assert(property, { seed: 20_261_122, numRuns: 200, interruptAfterTimeLimit: 60_000 });
    current = undefined;
    expect([...seen.keys()].length).toBeGreaterThan(5);
    expect(unhandled).toEqual([]);
    // `fetch` opens a connection in advance for the next request.
    const close = () => {
      for (const socket of server.sockets) socket.destroy();
      return sockets.open;
    };
    await expect.poll(close).toBe(0);
  });
});
