import { PodPartner } from "pod-partner";
import { nodeTransport } from "pod-partner/node";
import { sampleImage, startEmulator, validOrder, validRender } from "pod-partner/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

/** A blob whose class the platform does not know, as that of jsdom or of a polyfill. */
const NativeBlob = Blob;
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

const { now } = performance;
const replacements: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  nothing: {},
  Blob: { Blob: OtherBlob, File: OtherFile },
  AbortController: { AbortController: OtherController, AbortSignal: OtherSignal },
  "performance without timeOrigin": { performance: { now: () => now.call(performance_) } },
  "performance without numbers": { performance: { timeOrigin: Number.NaN, now: () => Number.NaN } },
  Date: { Date: class extends Date {} },
  Headers: { Headers: class extends Headers {} },
  URL: { URL: class extends URL {} },
  TextDecoder: { TextDecoder: class extends TextDecoder {} },
  DOMException: { DOMException: class extends DOMException {} },
  structuredClone: { structuredClone: undefined },
  Event: { Event: class extends Event {} },
};
const performance_ = performance;
const all = Object.assign({}, ...Object.values(replacements), {
  performance: { timeOrigin: Number.NaN, now: () => Number.NaN },
});

describe.each(["fetch", "nodeTransport"] as const)("over %s", (kind) => {
  let server: Awaited<ReturnType<typeof startEmulator>> | undefined;
  let before: Record<string, PropertyDescriptor | undefined> = {};
  beforeAll(async () => {
    server = await startEmulator({ renderDuration: 0 });
  });
  afterAll(() => server?.close());
  afterEach(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, value);
    }
    before = {};
  });

  it.each(Object.entries({ ...replacements, everything: all }))(
    "all calls work with another %s",
    async (_, globals) => {
      if (server === undefined) throw new Error("no server");
      for (const [name, value] of Object.entries(globals)) {
        before[name] = Object.getOwnPropertyDescriptor(globalThis, name);
        Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
      }
      const partner = new PodPartner({
        ...server.clientOptions,
        retry: { retries: 0 },
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
      server.faults.add({ on: "organization.get", fault: "stall" });
      const pending = partner.organization.get({ signal: controller.signal }).catch((error: unknown) => error);
      setTimeout(() => controller.abort(), 20);
      expect(await pending).toMatchObject({ name: "AbortError" });
      server.faults.clear();
    },
  );
});
