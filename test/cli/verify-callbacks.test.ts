import { createServer, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { PodPartner } from "pod-partner";
import { startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { type CallbackScene, createPost, deliver, judgeCallbacks, repeatSoon } from "../../src/cli/verify-callbacks.ts";
import { catalogue } from "../../src/cli/verify-catalogue.ts";
import { orderOf } from "../http/matrix/subjects.ts";
import { listen } from "../support/raw-server.ts";

const token = "0123456789abcdef";

/** What a server does with a callback, and what it has only in memory. */
interface Callback {
  readonly url: string;
  readonly query: URLSearchParams;
  readonly memory: Set<string>;
  /** Reads the order. False if it could not be read. */
  read(): Promise<boolean>;
}

/** The status with which a server responds. `respond` does so before the handler ends. */
type Handler = (callback: Callback, respond: (status: number) => void) => Promise<number | undefined>;

/** Lets a row happen to the callbacks of two orders, and says what is wrong with the server. */
async function play(id: string, handle: Handler, sweeps?: boolean): Promise<readonly string[]> {
  const row = catalogue.find((one) => one.id === id) ?? expect.fail(id);
  const post = createPost(row);
  let memory = new Set<string>();
  let life = new AbortController();
  const read = (order: string, signal: AbortSignal) =>
    partner.orders.get(order as `Order_${string}`, { signal }).then(
      () => true,
      () => false,
    );
  const answer = async (url: string, response: ServerResponse) => {
    const { signal } = life;
    const respond = (status: number) => void response.writeHead(status).end();
    const query = new URL(url, "http://server").searchParams;
    const order = query.get("order_reference_v2") ?? "";
    const status = await handle({ url, query, memory, read: () => read(order, signal) }, respond);
    if (status !== undefined) respond(status);
  };
  await using server = await listen(createServer((request, response) => void answer(request.url ?? "", response)));
  await using emulator = await startEmulator({
    seed: { number: 1 },
    callbackUrl: `${server.origin}/callback?token=${token}`,
    callbacks: { fetch: post.fetch },
    // A part ships long after the one before: on a busy machine the read for the first callback would else come after the second.
    automation: { shipping: 20_000, parts: row.parts ?? 1 },
  });
  const partner = new PodPartner({ baseUrl: emulator.baseUrl, secretKey: emulator.secretKey, retry: false });
  for (const identifier of ["web-1", "web-2"]) {
    memory.add(identifier);
    await partner.orders.create(orderOf(emulator, identifier));
  }
  const scene: CallbackScene = {
    emulator,
    post,
    restart: async () => {
      life.abort();
      life = new AbortController();
      memory = new Set();
    },
    sweep: async () => {
      if (sweeps !== true) return [];
      const orders = await partner.orders.list().toArray();
      await Promise.all(orders.map(({ reference }) => read(reference, life.signal)));
      return [];
    },
  };
  const ended = new AbortController();
  const repeats = repeatSoon(row, emulator, ended.signal);
  await deliver(row, scene);
  ended.abort();
  await repeats;
  return (await judgeCallbacks(row, scene)).map(({ text }) => text);
}

const checked =
  (handle: Handler): Handler =>
  async (callback, respond) =>
    callback.query.get("token") === token ? handle(callback, respond) : 403;

const readFirst: Handler = async ({ read }) => ((await read()) ? 204 : 503);
const acceptFirst: Handler = async ({ read }, respond) => {
  respond(204);
  await read();
  return undefined;
};

const once: Handler = async ({ query, memory, read }) => {
  const order = query.get("order_reference_v2") ?? "";
  if (!memory.has(order) && !(await read())) return 503;
  memory.add(order);
  return 204;
};
const remembering: Handler = async ({ query, memory, read }) =>
  !memory.has(query.get("custom_reference") ?? "") || (await read()) ? 204 : 503;
const refusing: Handler = async ({ url, memory, read }) => {
  if (memory.has(url)) return 409;
  if (!(await read())) return 503;
  memory.add(url);
  return 204;
};

const unread = "orders that were not read since they shipped: 2";
const unaccepted = "callbacks that were never accepted: 2";
const forged = ["with a wrong", "without a"].map((how) => `a callback ${how} token was accepted`);

describe.concurrent("a server", () => {
  it("whose second try takes longer than the time to the next one gets no third try", async () => {
    let calls = 0;
    const handle = async (response: ServerResponse) => {
      calls += 1;
      if (calls === 1) return response.writeHead(503).end();
      await sleep(1_500);
      return response.writeHead(204).end();
    };
    await using server = await listen(createServer((_, response) => void handle(response)));
    await using emulator = await startEmulator({
      seed: { number: 1 },
      callbackUrl: `${server.origin}/callback`,
      automation: { shipping: 1 },
    });
    const partner = new PodPartner({ baseUrl: emulator.baseUrl, secretKey: emulator.secretKey });
    await partner.orders.create(orderOf(emulator, "web-1"));
    const row = catalogue.find(({ id }) => id === "again") ?? expect.fail();
    const ended = new AbortController();
    const repeats = repeatSoon(row, emulator, ended.signal);
    const delivered = expect.poll(() => emulator.callbacks.list()[0]?.status, { timeout: 8_000 }).toBe("delivered");
    await Promise.race([repeats, delivered]);
    await delivered;
    ended.abort();
    await repeats;
    expect(emulator.callbacks.list()[0]?.tries.map(({ status }) => status)).toEqual([503, 204]);
  });

  it.each(["twice", "parts", "late", "reversed", "killed", "forged"])(
    "that reads each order before it accepts passes callbacks-%s",
    async (row) => {
      expect(await play(`callbacks-${row}`, checked(readFirst))).toEqual([]);
    },
  );

  it.each<[name: string, row: string, handle: Handler, ...found: string[]]>([
    ["accepts first, and is killed before it reads", "killed", checked(acceptFirst), unread],
    ["does not look for what no callback reports", "never", checked(acceptFirst), unread],
    ["handles an order once", "parts", checked(once), unread],
    ["knows its orders only in memory", "late", checked(remembering), unread],
    ["knows its orders only in memory", "killed", checked(remembering), unread],
    ["refuses what it knows", "twice", checked(refusing), unaccepted],
    ["refuses what it knows", "parts", checked(refusing), unaccepted, unread],
    ["does not look at the token", "forged", readFirst, ...forged],
  ])("that %s fails callbacks-%s", async (_, row, handle, ...found) => {
    expect(await play(`callbacks-${row}`, handle)).toEqual(found);
  });

  it.each(["never", "killed"])("that sweeps finds what callbacks-%s leaves out", async (row) => {
    expect(await play(`callbacks-${row}`, checked(acceptFirst), true)).toEqual([]);
  });
});
