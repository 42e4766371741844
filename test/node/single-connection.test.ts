import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { type ImageReference, PodPartner } from "pod-partner";
import { nodeTransport } from "pod-partner/node";
import { createEmulator, sampleImage } from "pod-partner/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { listen } from "../support/raw-server.ts";

const count = 20;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "pod-partner-single-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

it("renders.batch over a single connection makes mockups whose pictures can be read, and does not wait for itself", async () => {
  const emulator = createEmulator({ renderDuration: 0, rendertokenLimit: count });
  const { secretKey, demo } = emulator;
  const respond = ({ url, method, headers, body }: Request) => {
    const { pathname, search } = new URL(url);
    const init = body === null ? { method, headers } : { method, headers, body, duplex: "half" as const };
    return emulator.fetch(new Request(new URL(pathname + search, emulator.baseUrl), init));
  };
  const server = createServer(getRequestListener(respond, { overrideGlobalObjects: false }));
  // A connection whose response is not read yet stays open for as long as the client likes.
  server.keepAliveTimeout = 0;
  await using service = await listen(server);
  const baseUrl = `${service.origin}/v2`;
  const late: unknown[] = [];
  const hooks = { onRetry: (event: object) => late.push(event), onUnreadDownload: (event: object) => late.push(event) };
  const connect = () => new PodPartner({ baseUrl, secretKey, transport: nodeTransport({ maxSockets: 1 }), hooks });
  const images: ImageReference[] = [];
  for (let n = 0; n < count; n += 1) images.push((await connect().images.upload(sampleImage(String(n)))).reference);
  const rows = images.map((imageReference) => ({ compositionReference: demo.compositions.studio, imageReference }));
  const partner = connect();
  const readable: boolean[] = [];
  for await (const outcome of partner.renders.batch(rows)) {
    if (!outcome.ok) throw outcome.error;
    const { media, render } = outcome.value;
    readable.push((await media.bytes()).length === render.media?.size);
  }
  expect(readable).toEqual(Array(count).fill(true));
  let saved = 0;
  for await (const outcome of partner.renders.batch(rows, { download: directory })) {
    if (!outcome.ok) throw outcome.error;
    saved += 1;
  }
  expect([saved, (await readdir(directory)).length]).toEqual([count, count]);
  expect(late).toEqual([]);
});
