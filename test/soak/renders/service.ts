/** The emulator in a separate process. It remembers the creations of each pair, and which of them a killed client had not stored. */
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { createEmulator, sampleImage } from "../../../src/emulator/index.ts";
import { type CompositionParts, PodPartner } from "../../../src/index.ts";
import { type Address, type Count, type Creation, type Death, runHeader, type Settings } from "./messages.ts";

/** Creations that can be in flight: the concurrency of the client. */
const inFlight = 4;
const report = (message: Address | Count) => process.send?.(message);
const generous = { quota: 10_000_000, window: 60_000 };

/** The creations of a client that it had not stored when it was killed: the latest one of each pair. */
function lostIn(death: Death, creations: readonly Creation[]): Creation[] {
  const latest = new Map(creations.filter(({ run }) => run === death.run).map((one) => [one.pair, one]));
  const stored = new Set(death.stored);
  return [...latest.values()].filter(({ pair }) => !stored.has(pair));
}

/** Counts the creations. A pair may be created again for each creation that a kill lost. */
function countOf(creations: readonly Creation[], deaths: readonly Death[]): Omit<Count, "requests"> {
  const pairs = Map.groupBy(creations, ({ pair }) => pair);
  let unexplained = 0;
  const excused = new Set<Creation>();
  for (const death of deaths) {
    const lost = lostIn(death, creations);
    for (const one of lost) excused.add(one);
    // More were not stored than were in flight. A pair that an earlier kill lost comes in addition: its row waits for the lock.
    const first = lost.filter((one) => pairs.get(one.pair)?.[0] === one);
    unexplained += Math.max(0, first.length - inFlight);
  }
  const repeated = [...pairs.values()].filter((made) => made.length > 1);
  for (const made of repeated) {
    const others = made.filter((one) => one.status !== 429 && !excused.has(one));
    unexplained += Math.max(0, others.length - 1);
  }
  return { creations: creations.length, pairs: pairs.size, unexplained, repeated: repeated.flat() };
}

async function open({ images, limit }: Settings): Promise<void> {
  const limits = { default: generous, uploads: generous, downloads: generous };
  const emulator = createEmulator({ renderDuration: 1_000, rendertokenLimit: limit, limits });
  const creations: Creation[] = [];
  const deaths: Death[] = [];
  let requests = 0;

  const { port } = await new Promise<AddressInfo>((resolve) => {
    const fetch = async (request: Request): Promise<Response> => {
      requests += 1;
      const { pathname, search } = new URL(request.url);
      const body = request.method === "POST" ? await request.arrayBuffer() : null;
      const { method, headers } = request;
      const answer = () =>
        emulator.fetch(new Request(new URL(pathname + search, emulator.baseUrl), { method, headers, body }));
      if (body === null || !pathname.endsWith("/renders")) return answer();
      const { render } = JSON.parse(Buffer.from(body).toString());
      const pair = `${render.compositionReference}:${render.imageReference}`;
      const creation: Creation = { pair, run: Number(headers.get(runHeader)), read: Date.now() };
      creations.push(creation);
      const response = await answer();
      creation.status = response.status;
      creation.answered = Date.now();
      return response;
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

  process.on("message", async (message: Death | "next week" | "count") => {
    if (typeof message === "object") {
      deaths.push(message);
      return;
    }
    if (message === "next week") await emulator.clock.advance({ days: 7 });
    report({ ...countOf(creations, deaths), requests });
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
