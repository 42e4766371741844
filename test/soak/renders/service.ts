/** The emulator in a separate process. It counts the creations of each pair, and which of them were in flight when a client was killed. */
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { serve } from "@hono/node-server";
import { createEmulator, sampleImage } from "../../../src/emulator/index.ts";
import { type CompositionParts, PodPartner } from "../../../src/index.ts";
import type { Address, Count, Settings } from "./messages.ts";

/** Creations that can be in flight: the concurrency of the client. */
const inFlight = 4;
/** Milliseconds without a request after which no more come from a killed client. */
const quiet = 2_000;
const report = (message: Address | Count) => process.send?.(message);
const generous = { quota: 10_000_000, window: 60_000 };

async function open({ images, limit }: Settings): Promise<void> {
  const limits = { default: generous, uploads: generous, downloads: generous };
  const emulator = createEmulator({ renderDuration: 1_000, rendertokenLimit: limit, limits });
  const creations: string[] = [];
  const excused = new Set<number>();
  let requests = 0;
  let lastRequest = 0;

  const { port } = await new Promise<AddressInfo>((resolve) => {
    const fetch = async (request: Request): Promise<Response> => {
      requests += 1;
      lastRequest = performance.now();
      const { pathname, search } = new URL(request.url);
      const body = request.method === "POST" ? await request.arrayBuffer() : null;
      if (request.method === "POST" && pathname.endsWith("/renders"))
        creations.push(Buffer.from(body ?? new ArrayBuffer()).toString());
      const { method, headers } = request;
      return emulator.fetch(new Request(new URL(pathname + search, emulator.baseUrl), { method, headers, body }));
    };
    serve({ fetch, port: 0, hostname: "127.0.0.1" }, resolve);
  });

  const partner = new PodPartner(emulator.clientOptions);
  const references: Address["images"][number][] = [];
  for (let n = 0; n < images; n += 1) {
    references.push((await partner.images.upload(sampleImage(String(n)))).reference);
  }
  const combinations: CompositionParts[] = [];
  for (const productReference of Object.values(emulator.demo.products)) {
    const { scenes, perspectives } = emulator.demo;
    const parts = { sceneReference: scenes.studio, productReference, perspectiveReference: perspectives.front };
    const found = await partner.compositions.lookup(parts).catch(() => undefined);
    if (found?.tokenCost === 1) combinations.push(parts);
  }

  process.on("message", async (message: "killed" | "next week" | "count") => {
    if (message === "killed") {
      // On a busy machine, requests of the killed client are still to be read.
      while (performance.now() - lastRequest < quiet) await setTimeout(quiet);
      for (let n = 1; n <= inFlight; n += 1) excused.add(creations.length - n);
    }
    if (message === "next week") await emulator.clock.advance({ days: 7 });
    const seen = new Map<string, number>();
    let unexplained = 0;
    for (const [index, pair] of creations.entries()) {
      const before = seen.get(pair);
      if (before !== undefined && !excused.has(before)) unexplained += 1;
      seen.set(pair, index);
    }
    report({ creations: creations.length, pairs: seen.size, unexplained, requests });
  });
  requests = 0;
  report({
    baseUrl: `http://127.0.0.1:${port}/v2`,
    secretKey: emulator.secretKey,
    images: references,
    combinations: combinations.slice(0, 4),
  });
}

process.once("message", (settings: Settings) => open(settings));
process.once("disconnect", () => process.exit());
