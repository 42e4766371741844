import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { PodPartner, type PodPartnerOptions } from "pod-partner";
import { createOrderFollower } from "pod-partner/callbacks";
import { nodeTransport } from "pod-partner/node";
import {
  createEmulator,
  createManualClock,
  sampleImage,
  startEmulator,
  validOrder,
  validRender,
} from "pod-partner/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const context = createContext({ timers: { setTimeout, clearTimeout } });

/** What a piece of code makes in another realm, from plain values of this one. */
// biome-ignore lint/suspicious/noExplicitAny: the tests pass it as the values that the methods take
function foreign(code: string, given: object = {}): any {
  return runInContext(`(given => (${code}))`, context)(JSON.parse(JSON.stringify(given)));
}

/** A value of this realm, with all its objects and arrays made in another one. */
const copied = (value: unknown) => foreign("JSON.parse(given.json)", { json: JSON.stringify(value) });

const png = Buffer.from(sampleImage("a picture of another realm"));
const bytes = [...png];
const blobClass = `class {
  #bytes; constructor(bytes) { this.#bytes = Uint8Array.from(bytes); }
  get size() { return this.#bytes.length; }
  get type() { return "image/png"; }
  get name() { return "design.png"; }
  slice(from, to) { return new this.constructor(this.#bytes.slice(from, to)); }
  async arrayBuffer() { return this.#bytes.buffer; }
  stream() {
    const bytes = this.#bytes; let isRead = false;
    return { getReader: () => ({ read: async () => isRead ? { done: true } : (isRead = true, { done: false, value: bytes }), cancel: async () => {}, releaseLock() {}, closed: Promise.resolve() }) };
  }
}`;

const sources: Readonly<Record<string, string>> = {
  Uint8Array: "Uint8Array.from(given.bytes)",
  "a part of a Uint8Array": "Uint8Array.from([1, 2, ...given.bytes, 3]).subarray(2, given.bytes.length + 2)",
  "a class of Uint8Array, as Buffer": "(class extends Uint8Array {}).from(given.bytes)",
  ArrayBuffer: "Uint8Array.from(given.bytes).buffer",
  SharedArrayBuffer:
    "(shared => (new Uint8Array(shared).set(given.bytes), shared))(new SharedArrayBuffer(given.bytes.length))",
  "shared bytes":
    "(shared => (shared.set(given.bytes), shared))(new Uint8Array(new SharedArrayBuffer(given.bytes.length)))",
  DataView: "new DataView(Uint8Array.from(given.bytes).buffer)",
  Uint8ClampedArray: "Uint8ClampedArray.from(given.bytes)",
  "a blob or file": `new (${blobClass})(given.bytes)`,
  "a tagged blob": `new (class Blob extends (${blobClass}) { get [Symbol.toStringTag]() { return "Blob"; } })(given.bytes)`,
  "an async generator":
    "(async function* () { yield Uint8Array.from(given.bytes).subarray(0, 9); yield Uint8Array.from(given.bytes).buffer.slice(9); })()",
  "a stream": `new (${blobClass})(given.bytes).stream()`,
  "a response": `({ ok: true, status: 200, body: new (${blobClass})(given.bytes).stream(), bodyUsed: false })`,
  "a URL":
    '({ href: given.url, protocol: "file:", pathname: given.url.slice(7), host: "", toString() { return given.url; } })',
};

const path = join(tmpdir(), `other-realm-${process.pid}.png`);

describe.each(["fetch", "nodeTransport"] as const)("over %s, values of another realm", (kind) => {
  let server: Awaited<ReturnType<typeof startEmulator>>;
  let partner: PodPartner;
  const connect = (options: PodPartnerOptions = {}) =>
    new PodPartner({
      ...server.clientOptions,
      ...(kind === "nodeTransport" && { transport: nodeTransport() }),
      ...options,
    });
  beforeAll(async () => {
    server = await startEmulator({ renderDuration: 0 });
    partner = connect();
    await writeFile(path, png);
  });
  afterAll(() => server.close());

  it.each(Object.entries(sources))("are uploaded: %s", async (_, code) => {
    const make = () => foreign(code, { bytes, url: `file://${path}` });
    const { reference } = await partner.images.upload(Uint8Array.from(png));
    expect(await partner.images.upload(make())).toEqual({ reference });
    expect(await partner.images.upload(make(), foreign("({ onProgress() {} })"))).toEqual({ reference });
    expect(await connect().images.uploadOnce(make())).toEqual({ reference, uploaded: true });
    expect(await partner.evidence.upload(make())).toMatchObject({ reference: expect.any(String) });
  });

  it("end a call: a signal", async () => {
    const controller = foreign(`(() => {
      const listeners = new Set();
      const signal = { aborted: false, reason: undefined,
        addEventListener: (_, listener) => listeners.add(listener), removeEventListener: (_, listener) => listeners.delete(listener) };
      return { signal, listeners, abort(reason) { Object.assign(signal, { aborted: true, reason }); for (const each of listeners) { listeners.delete(each); each(); } } };
    })()`);
    const reason = foreign('new Error("over")');
    server.faults.add({ on: "organization.get", fault: "stall" });
    const calls = [partner.organization.get({ signal: controller.signal })].map((call) =>
      Promise.resolve(call).catch((error: unknown) => error),
    );
    while (server.requests.where({ outcome: "open" }).length === 0) await new Promise(setImmediate);
    controller.abort(reason);
    expect(await calls[0]).toBe(reason);
    expect(controller.listeners.size).toBe(0);
    server.faults.clear();
    expect(await partner.organization.get({ signal: controller.signal }).catch((error: unknown) => error)).toBe(reason);
  });

  it.each([
    "({ 'x-one': '1', 'x-two': '2' })",
    "new Map([['x-one', '1'], ['x-two', '2']])",
    "[['x-one', '1'], ['x-two', '2']]",
    "({ *[Symbol.iterator]() { yield ['x-one', '1']; yield ['x-two', '2']; } })",
    "new (class Headers { get() {} has() {} *[Symbol.iterator]() { yield ['x-one', '1']; yield ['x-two', '2']; } })()",
  ])("are headers: %s", async (code) => {
    await partner.organization.get(foreign(`({ headers: ${code} })`));
    expect(server.requests.at(-1)?.request.headers).toMatchObject({ "x-one": "1", "x-two": "2" });
  });

  it.each([
    "[...given.rows]",
    "new Set(given.rows)",
    "(function* () { yield* given.rows; })()",
    "(async function* () { yield* given.rows; })()",
  ])("are rows: %s", async (code) => {
    const orders = ["a", "b"].map((name) =>
      validOrder(server, { customIdentifier: `${kind} ${code} ${name}`.replaceAll(/[^\w]/g, "-").slice(0, 60) + name }),
    );
    const rowsOf = (rows: readonly unknown[]) => foreign(code, { rows });
    const placed = [];
    for await (const outcome of partner.orders.ensureMany(rowsOf(orders))) placed.push(outcome);
    expect(placed.map(({ ok }) => ok)).toEqual([true, true]);
    const references = placed.map((outcome) => outcome.ok && outcome.value.reference);
    const read = [];
    for await (const outcome of partner.orders.getMany(rowsOf(references))) read.push(outcome);
    expect(read.map((outcome) => outcome.ok && outcome.value.reference).sort()).toEqual([...references].sort());
    const options = foreign("({ map: async (row) => ({ ...row }), concurrency: 2 })");
    const rendered = [];
    for await (const outcome of partner.renders.batch(rowsOf([validRender(server)]), options)) rendered.push(outcome);
    expect(rendered.map(({ ok }) => ok)).toEqual([true]);
  });

  it("are input and options: objects, lists, dates", async () => {
    const { reference } = await partner.orders.create(
      copied(validOrder(server)),
      copied({ callId: "of another realm" }),
    );
    await partner.orders.cancel(reference, foreign("[{ index: 1, canceledQuantity: 1 }]"));
    const placed = await partner.orders.ensure(
      copied(validOrder(server, { customIdentifier: `object-${kind}` })),
      foreign("({ lookFor: 0, compare: 'lines', retry: { retries: 0 } })"),
    );
    expect(placed.existed).toBe(false);
    const lines = { productReference: validOrder(server).orderlines[0]?.productReference, quantity: 1 };
    expect(lines.productReference).toBeDefined();
    const since = (await partner.catalog.products.changes()).snapshot;
    expect((await partner.catalog.products.changes({ since: copied(since) })).changed).toEqual([]);
    const closedAfter = foreign("new Date('2026-01-02T03:04:05.678Z')");
    await partner.claims.list({ closedAfter }).toArray();
    expect(server.requests.at(-1)?.path).toContain(encodeURIComponent("2026-01-02T03:04:05.678Z"));
    await partner
      .request("GET", "/orders", foreign("({ query: { stage: ['production', 'shipped'] } })"))
      .catch(() => undefined);
    expect(server.requests.at(-1)?.path).toMatch(/stage=production&stage=shipped/);
  });
});

describe("functions and options of another realm", () => {
  const emulator = createEmulator(copied({ seed: { orders: 1 }, renderDuration: 0 }));
  const connect = (options: PodPartnerOptions = {}) => new PodPartner({ ...emulator.clientOptions, ...options });
  const failure = (promise: PromiseLike<unknown>) =>
    Promise.resolve(promise).then(
      () => undefined,
      (error: unknown) => error,
    );

  it("make a client: its options and hooks", async () => {
    const calls: string[] = [];
    context.calls = calls;
    const options = foreign(`({
      retry: { retries: 1, baseDelay: 0 }, pacing: { perSecond: 50, burst: 50 }, assumptions: { processingTime: 1000 },
      hooks: { onRequest: async ({ attempt }) => { calls.push("request " + attempt); throw new Error("of a hook"); } },
      logger: { warn() { throw new Error("of a logger"); } },
    })`);
    await connect(options).organization.get();
    expect(calls).toEqual(["request 1"]);
    expect(() => connect(foreign("({ hooks: { onRequests() {} } })"))).toThrow(/is an unknown hook/);
    expect(() => connect(foreign("({ retry: { retires: 1 } })"))).toThrow(/retry\.retires/);
  });

  it.each([
    [
      'Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED", syscall: "connect" }) })',
      false,
    ],
    [
      'Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error("read"), { code: "ECONNRESET", syscall: "read" }) })',
      true,
    ],
    ['new Error("of a fetch")', true],
  ])("is the cause of a ConnectionError: %s", async (code, sent) => {
    const error = foreign(code);
    const { organization } = connect({ fetch: () => Promise.reject(error), retry: false as never });
    expect(await failure(organization.get())).toMatchObject({
      name: "ConnectionError",
      sent,
      message: expect.stringContaining(sent ? (error.cause?.message ?? error.message) : "not sent"),
    });
  });

  it("return responses, and promises of them", async () => {
    const fetch = foreign(
      `(async () => ({ ok: true, status: 200, headers: new Map([["content-type", "application/json"]]), body: {
      getReader: () => { let isRead = false; return { cancel: async () => {}, read: async () => isRead ? { done: true } : (isRead = true, { done: false, value: Uint8Array.from(given.bytes) }) }; } } }))`,
      { bytes: [...Buffer.from('{"message":"valid"}')] },
    );
    expect(await connect({ fetch }).auth.validate()).toEqual({ message: "valid" });
  });

  it("end a row or a call: errors of `map` and `onProgress`", async () => {
    const error = foreign('new Error("of a function")');
    context.error = error;
    const partner = connect();
    const outcomes = [];
    for await (const outcome of partner.orders.ensureMany(
      [validOrder(emulator)],
      foreign("({ map: () => { throw error; } })"),
    ))
      outcomes.push(outcome);
    expect(outcomes).toMatchObject([{ ok: false, error }]);
    expect(await failure(partner.images.upload(png, foreign("({ onProgress() { throw error; } })")))).toBe(error);
  });

  it("keep bytes: a storage", async () => {
    const storage = foreign(`(() => {
      const values = new Map();
      const equal = (one, other) => one === other || Boolean(one && other && one.length === other.length && one.every((byte, index) => byte === other[index]));
      const holds = (key, options) => !options || !("expected" in options) || equal(values.get(key), options.expected ?? undefined);
      return { kind: "foreign", get: async (key) => values.get(key) && Uint8Array.from(values.get(key)),
        set: async (key, value, options) => holds(key, options) && (values.set(key, Uint8Array.from(value)), true),
        delete: async (key, options) => holds(key, options) && values.delete(key),
        keys: async function* (prefix) { for (const key of [...values.keys()]) if (key.startsWith(prefix)) yield key; } };
    })()`);
    expect(await connect({ storage }).images.uploadOnce(png)).toMatchObject({ uploaded: true });
    expect(await connect({ storage }).images.uploadOnce(png)).toMatchObject({ uploaded: false });
    const handed: string[] = [];
    const follower = createOrderFollower({
      partner: connect(),
      storage,
      onChange: ({ order }) => void handed.push(order.reference),
    });
    const { reference } = await connect().orders.create(validOrder(emulator));
    await follower.follow(reference);
    expect(await follower.reconcile()).toMatchObject({ checked: 1 });
    await follower.close();
    const lost = foreign(`(() => { const lose = async () => { throw new Error("of a storage"); };
      return { kind: "lost", get: lose, set: lose, delete: lose, keys: async function* () { throw new Error("of a storage"); } }; })()`);
    const missed: unknown[] = [];
    const careful = connect({ storage: lost, hooks: { onStorageLost: (event) => void missed.push(event) } });
    await careful.images.uploadOnce(png);
    expect(missed).toHaveLength(1);
  });

  it("are points in time of an emulator and a manual clock", async () => {
    const date = (text: string) => foreign(`new Date("${text}")`);
    const clock = createManualClock(date("2027-01-02T03:04:05.678Z"));
    expect(clock.now()).toBe(Date.parse("2027-01-02T03:04:05.678Z"));
    await clock.set(date("2027-01-02T03:04:06.789Z"));
    const timed = createEmulator({ clock });
    expect(timed.clock.now()).toBe(Date.parse("2027-01-02T03:04:06.789Z"));
    await timed.clock.set(
      foreign('({ getTime: () => Date.UTC(2027, 0, 3, 0, 0, 0, 5), toISOString: () => "2027-01-03T00:00:00.005Z" })'),
    );
    expect(timed.clock.now()).toBe(Date.parse("2027-01-03T00:00:00.005Z"));
  });

  it("are faults of an emulator: their bytes", async () => {
    const text = '{"message":"of a fault"}';
    emulator.faults.add(
      foreign('({ on: "auth.validate", fault: "body", body: Uint8Array.from(given.bytes) })', {
        bytes: [...Buffer.from(text)],
      }),
    );
    expect(await connect().auth.validate()).toEqual({ message: "of a fault" });
    emulator.faults.clear();
  });
});
