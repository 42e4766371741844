import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type ImageSource, PodPartner } from "pod-partner";
import { describe, expect, it } from "vitest";
import { secretKey, useService } from "../support/partner.ts";
import { png } from "../support/pictures.ts";
import { ref } from "../support/references.ts";

/** Collects garbage, as happens in any process sooner or later. */
const collect = (() => {
  setFlagsFromString("--expose-gc");
  const gc: unknown = runInNewContext("gc");
  if (typeof gc !== "function") throw new Error("This Node has no gc()");
  return () => void gc();
})();

describe("an upload that streams (law 7)", () => {
  const context = useService();

  it("is not kept in memory while it is sent", async () => {
    const pieces: WeakRef<Uint8Array>[] = [];
    let alive = Number.NaN;
    async function* picture() {
      yield png;
      for (let piece = 0; piece < 100; piece++) {
        const bytes = new Uint8Array(65_536);
        pieces.push(new WeakRef(bytes));
        yield bytes;
        // A `WeakRef` keeps its target until the current task of the event loop ends.
        await setImmediate();
      }
      collect();
      alive = pieces.filter((piece) => piece.deref() !== undefined).length;
    }
    context.service.respond({ body: { image: { reference: ref("Image") } } });
    await context.partner.images.upload(ReadableStream.from(picture()));
    expect(context.service.requests[0]?.body).toHaveLength(png.length + 100 * 65_536);
    expect(alive).toBeLessThan(50);
  });

  it.each<[string, () => ImageSource]>([
    ["a Blob", () => new Blob([png])],
    ["a web stream", () => new Blob([png]).stream()],
    ["a Node stream", () => Readable.from([png])],
  ])("sets `redirect` and `window` so that fetch does not keep a copy of %s", async (_, source) => {
    const given: unknown[] = [];
    const partner = new PodPartner({
      baseUrl: context.service.baseUrl,
      secretKey,
      fetch: (request, init) => {
        given.push(init);
        return fetch(request, init);
      },
    });
    context.service.respond({ body: { image: { reference: ref("Image") } } });
    await partner.images.upload(source());
    expect(given).toMatchObject([{ redirect: "error", window: null }]);
  });
});
