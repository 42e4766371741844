import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { PodPartner } from "pod-partner";
import { nodeTransport } from "pod-partner/node";
import { sampleImage, startEmulator, validOrder, validRender } from "pod-partner/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { secretKey, useService } from "../support/partner.ts";
import { ref } from "../support/references.ts";

/** A blob whose class the platform does not know, as that of jsdom or of a polyfill. */
const NativeBlob = Blob;
const nativeFetch = fetch;
/** In the place of a global that is missing. */
const missing = Symbol("missing");
class OtherBlob {
  readonly #blob: Blob;
  constructor(parts: readonly unknown[] = []) {
    this.#blob = new NativeBlob(parts.map((part) => (part instanceof OtherBlob ? part.#blob : (part as Blob))));
  }
  get size() {
    return this.#blob.size;
  }
  get type() {
    return "";
  }
  get [Symbol.toStringTag]() {
    return "Blob";
  }
  slice(...range: [number?, number?]) {
    return new OtherBlob([this.#blob.slice(...range)]);
  }
  stream() {
    return this.#blob.stream();
  }
  arrayBuffer() {
    return this.#blob.arrayBuffer();
  }
}
class OtherFile extends OtherBlob {
  readonly name = "design.png";
}

/** As in an old polyfill: without a reason and `throwIfAborted`. */
class OtherSignal extends EventTarget {
  aborted = false;
}
class OtherController {
  readonly signal = new OtherSignal();
  abort() {
    if (this.signal.aborted) return;
    this.signal.aborted = true;
    this.signal.dispatchEvent(new Event("abort"));
  }
}

/** Another implementation of `fetch`, in a folder of its own. Only CI must have it. */
const runtimes = join(import.meta.dirname, "../runtimes");
const hasUndici = existsSync(join(runtimes, "node_modules/undici")) || process.env.CI !== undefined;
const undici = hasUndici ? createRequire(join(runtimes, "package.json"))("undici") : undefined;

const nextTurn = () => new Promise((resolve) => nativeSetImmediate(resolve));
const nativeSetImmediate = setImmediate;
const nativeSetTimeout = setTimeout;
const nativeClearTimeout = clearTimeout;
/** Timers of a page: numbers. */
const pageTimers = new Map<unknown, NodeJS.Timeout>();
const setPageTimeout = (callback: () => void, ms?: number) => {
  const timer = nativeSetTimeout(callback, ms);
  const id = pageTimers.size + 1;
  pageTimers.set(id, timer);
  return id;
};

const derived = (Class: unknown) => class extends (Class as new (...given: unknown[]) => object) {};

const { now } = performance;
const replacements: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  nothing: {},
  Blob: { Blob: OtherBlob, File: OtherFile },
  AbortController: { AbortController: OtherController, AbortSignal: OtherSignal },
  "performance without timeOrigin": { performance: { now: () => now.call(performance_) } },
  "performance without numbers": { performance: { timeOrigin: Number.NaN, now: () => Number.NaN } },
  "performance without methods": { performance: {} },
  "performance (none)": { performance: missing },
  "setTimeout, of a page": {
    setTimeout: setPageTimeout,
    clearTimeout: (id: unknown) => nativeClearTimeout(pageTimers.get(id)),
  },
  "setImmediate (none)": { setImmediate: missing },
  "process (none)": { process: missing },
  "process without a version": { process: { env: {} } },
  "crypto (none)": { crypto: missing },
  "crypto, as that of jsdom": { crypto: { getRandomValues: crypto.getRandomValues.bind(crypto) } },
  "fetch, of a program": { fetch: (...input: Parameters<typeof fetch>) => nativeFetch(...input) },
  "Request, Response and Headers, of a program": {
    Request: derived(Request),
    Response: derived(Response),
    Headers: derived(Headers),
  },
  ...(undici !== undefined && {
    "fetch and its classes, of the package undici": {
      fetch: undici.fetch,
      Request: undici.Request,
      Response: undici.Response,
      Headers: undici.Headers,
      FormData: undici.FormData,
    },
    "fetch alone, of the package undici": { fetch: undici.fetch },
    "classes alone, of the package undici": {
      Request: undici.Request,
      Response: undici.Response,
      Headers: undici.Headers,
    },
  }),
  ReadableStream: { ReadableStream: derived(ReadableStream) },
  Uint8Array: { Uint8Array: derived(Uint8Array) },
  "TextEncoder, of a program": { TextEncoder: class extends TextEncoder {} },
  Date: { Date: class extends Date {} },
  Headers: { Headers: class extends Headers {} },
  URL: { URL: class extends URL {} },
  TextDecoder: { TextDecoder: class extends TextDecoder {} },
  DOMException: { DOMException: class extends DOMException {} },
  structuredClone: { structuredClone: undefined },
  Event: { Event: class extends Event {} },
};
const performance_ = performance;
const withoutNode = ["process (none)", "process without a version"];
/** What Node's own `fetch`, or `nodeTransport`, cannot do without. */
const needed: Readonly<Record<string, readonly string[]>> = {
  fetch: ["setTimeout, of a page"],
  nodeTransport: withoutNode,
};
/** Without `process`, nothing of Node can take the place of an incomplete global. */
const everythingBut = (names: readonly string[]) =>
  Object.assign({}, ...Object.entries(replacements).map(([name, globals]) => (names.includes(name) ? {} : globals)));

let before: Record<string, PropertyDescriptor | undefined> = {};

function replace(globals: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(globals)) {
    before[name] = Object.getOwnPropertyDescriptor(globalThis, name);
    if (value === missing) Reflect.deleteProperty(globalThis, name);
    else Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
}

afterEach(() => {
  for (const [name, value] of Object.entries(before)) {
    if (value === undefined) Reflect.deleteProperty(globalThis, name);
    else Object.defineProperty(globalThis, name, value);
  }
  before = {};
});

describe.each(["fetch", "nodeTransport"] as const)("over %s", (kind) => {
  let server: Awaited<ReturnType<typeof startEmulator>> | undefined;
  beforeAll(async () => {
    server = await startEmulator({ renderDuration: 0 });
  });
  afterAll(() => server?.close());

  const others = Object.entries({
    ...replacements,
    everything: everythingBut([...withoutNode, ...(needed[kind] ?? [])]),
  });
  it.each(others.filter(([name]) => !needed[kind]?.includes(name)))(
    "all calls work with another %s",
    async (_, globals) => {
      if (server === undefined) throw new Error("no server");
      replace(globals);
      const partner = new PodPartner({
        ...server.clientOptions,
        retry: { retries: 1, baseDelay: 1 },
        hooks: { onRetry: () => server?.faults.clear() },
        ...(kind === "nodeTransport" && { transport: nodeTransport() }),
      });
      const png = Uint8Array.from(sampleImage(`picture of ${kind}`));
      const { reference } = await partner.images.upload(png);
      const sources: Readonly<Record<string, unknown>> = {
        blob: new Blob([png]),
        file: new File([png], "design.png"),
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue(png);
            controller.close();
          },
        }),
        platformBlob: new NativeBlob([png]),
      };
      for (const [name, source] of Object.entries(sources)) {
        const sent: number[] = [];
        const onProgress = (progress: { readonly sent: number }) => void sent.push(progress.sent);
        // Identical content has the same reference.
        expect([name, await partner.images.upload(source as Blob, { onProgress })]).toEqual([name, { reference }]);
        expect(sent.at(-1)).toBe(png.byteLength);
      }
      expect(await partner.images.uploadOnce(png)).toEqual({ reference, uploaded: true });
      const order = await partner.orders.create(validOrder(server));
      expect((await partner.orders.list().toArray()).map((one) => one.reference)).toContain(order.reference);
      const render = await partner.renders.create(validRender(server));
      expect((await (await partner.renders.media(render.reference)).bytes()).byteLength).toBeGreaterThan(100);

      const controller = new AbortController();
      server.faults.add({ on: "organization.get", fault: "status", status: 503 });
      expect((await partner.organization.get().withResponse()).timeline.map(({ step }) => step)).toEqual([
        "attempt",
        "backoff",
        "attempt",
      ]);
      server.faults.add({ on: "organization.get", fault: "stall" });
      const pending = partner.organization.get({ signal: controller.signal }).catch((error: unknown) => error);
      while (server.requests.where({ outcome: "open" }).length === 0) await nextTurn();
      controller.abort();
      expect(await pending).toMatchObject({ name: "AbortError" });
      server.faults.clear();
    },
  );

  describe("with fake timers", () => {
    afterEach(() => void vi.useRealTimers());

    it.each(["before", "after"])("all calls work that are installed %s the client is made", async (when) => {
      if (server === undefined) throw new Error("no server");
      const { clientOptions, faults } = server;
      const make = () =>
        new PodPartner({ ...clientOptions, ...(kind === "nodeTransport" && { transport: nodeTransport() }) });
      if (when === "before") vi.useFakeTimers();
      const partner = make();
      await partner.auth.validate();
      if (when === "after") vi.useFakeTimers();
      await partner.images.upload(Uint8Array.from(sampleImage(`with fake timers ${when}`)));
      await partner.orders.create(validOrder(server));
      expect(await partner.orders.list().toArray({ limit: 1 })).toHaveLength(1);

      const { signal } = new AbortController();
      faults.add({ on: "organization.get", fault: "stall" });
      const ended = partner.organization.get({ deadline: 5_000, signal }).catch((error: unknown) => error);
      while (server.requests.where({ outcome: "open" }).length === 0) await nextTurn();
      await vi.advanceTimersByTimeAsync(5_000);
      expect(await ended).toMatchObject({ name: "DeadlineError" });
      faults.clear();
      expect(vi.getTimerCount()).toBe(0);
      vi.useRealTimers();
      await partner.organization.get();
    });
  });
});

describe("without what a transport needs", () => {
  const context = useService();
  it("says that nothing was sent without `fetch`", async () => {
    replace({ fetch: missing });
    const { baseUrl } = context.service;
    const partner = new PodPartner({ baseUrl, secretKey, retry: { retries: 0 } });
    const error = await partner.claims.retract(ref("Claim")).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "ConnectionError", message: expect.stringContaining("was not sent") });
    expect(context.service.requests).toEqual([]);
  });

  it.each(["Request", "Response", "Headers", "FormData"])("calls work without the global %s", async (name) => {
    replace({ [name]: missing });
    const { baseUrl } = context.service;
    context.service.respondAlways({ body: { message: "valid" } });
    const partner = new PodPartner({ baseUrl, secretKey, retry: { retries: 0 } });
    expect(await partner.auth.validate()).toEqual({ message: "valid" });
  });

  it.each(withoutNode)("nodeTransport says that it needs Node: another %s", (name) => {
    replace(replacements[name] ?? {});
    expect(() => nodeTransport()).toThrow(/nodeTransport needs Node/);
  });
});
