import { type Download, PodPartner, type RenderReference } from "pod-partner";
import { createEmulator, createManualClock, sampleImage } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { watchedStorage } from "./support.ts";

/** What the files of a night cost. */
interface Night {
  readonly files: number;
  readonly requests: number;
  /** Bytes of the bodies that the service sends. */
  readonly bytes: number;
  /** Tokens of the `downloads` limit. */
  readonly tokens: number;
}

const day = 86_400_000;

/** A nightly run that needs every picture of the catalog, and each mockup of three designs with its thumbnail. */
async function nightly(fileCache: boolean) {
  const clock = createManualClock();
  const emulator = createEmulator({ clock, renderDuration: 1 });
  const { storage, idle } = watchedStorage(clock);
  let [requests, bytes, tokens] = [0, 0, 0];
  const fetch = async (request: Request, init?: RequestInit) => {
    const response = await emulator.fetch(request, init);
    const path = new URL(request.url).pathname;
    if (!/\/(media|thumbnail|layers)(\/|$)/.test(path)) return response;
    requests += 1;
    // The specification counts these against `downloads` (8); layer images only against `default`.
    if (!path.includes("/layers/")) tokens += 1;
    bytes += Number(response.headers.get("content-length") ?? 0);
    return response;
  };
  const client = () => new PodPartner({ ...emulator.clientOptions, fetch, storage, fileCache });
  const renders: RenderReference[] = [];
  for (const name of ["one", "two", "three"]) {
    const { reference: imageReference } = await client().images.upload(sampleImage(name));
    const compositionReference = emulator.demo.compositions.studio;
    renders.push((await client().renders.create({ compositionReference, imageReference })).reference);
  }
  await clock.advance(day);

  async function* files({ catalog, renders: mockups }: PodPartner): AsyncGenerator<Download> {
    for await (const { reference, status } of catalog.products.list()) {
      if (status === "archived") continue;
      const detail = (await catalog.products.get(reference)) as unknown as {
        readonly media: readonly { readonly filename: string }[];
        readonly layers: { readonly images: readonly { readonly url: string }[] };
      };
      for (const { filename } of detail.media) yield catalog.products.media(reference, filename);
      for (const { url } of detail.layers.images) yield catalog.products.layerImage(url);
    }
    for (const reference of renders) {
      yield mockups.media(reference);
      yield mockups.thumbnail(reference);
    }
  }

  /** A new client each night, as a process that starts at night has it. */
  async function night(): Promise<Night> {
    [requests, bytes, tokens] = [0, 0, 0];
    let count = 0;
    for await (const download of files(client())) {
      await download.bytes();
      count += 1;
    }
    await idle();
    await clock.advance(day);
    return { files: count, requests, bytes, tokens };
  }
  return { emulator, night };
}

describe("the second nightly run", () => {
  it("costs as much as the first without the cache", async () => {
    const { night } = await nightly(false);
    expect(await night()).toEqual(await night());
  });

  it("requests no render and no byte that is unchanged with the cache", async () => {
    const { night } = await nightly(true);
    const [first, second] = [await night(), await night()];
    console.log("the files of a night", { first, second });
    expect(first.requests).toBe(first.files);
    // The rest are a 304 for each example image and each layer image.
    expect(second).toMatchObject({ files: first.files, bytes: 0 });
    expect(second.requests).toBeLessThan(first.requests * 0.7);
    expect(second.tokens).toBeLessThan(first.tokens * 0.5);
  });

  it("requests only what the operator has replaced", async () => {
    const { emulator, night } = await nightly(true);
    await night();
    const unchanged = await night();
    emulator.replaceMedia(emulator.demo.products.slimCase, { example: true, render: true });
    const third = await night();
    expect(third.bytes).toBeGreaterThan(0);
    expect(third.requests).toBe(unchanged.requests + 1);
    expect(await night()).toMatchObject({ bytes: 0, requests: unchanged.requests });
  });
});
