import { createHash } from "node:crypto";
import { createReadStream, openAsBlob } from "node:fs";
import { writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as WebStream } from "node:stream/web";
import type { Transport } from "../../../src/http/transport.ts";

import { type Client as ListClient, clients as lists } from "../clients.ts";

/** The measured operations of a client. */
export interface Client {
  readonly iterate: ListClient["iterate"];
  /** Saves a file, and reports the received bytes as it proceeds. */
  readonly download: (path: string, progress: (received: number) => void) => Promise<void>;
  readonly upload: (source: ReadableStream<Uint8Array>) => Promise<unknown>;
  /** Uploads a file if its content was not uploaded before. */
  readonly uploadOnce: (path: string) => Promise<unknown>;
}

const render = `Render_${"0".repeat(26)}` as const;

async function* counted(body: AsyncIterable<Uint8Array>, progress: (received: number) => void) {
  let received = 0;
  for await (const chunk of body) {
    received += chunk.byteLength;
    progress(received);
    yield chunk;
  }
}

async function bareDownload(origin: string, path: string, progress: (received: number) => void): Promise<void> {
  const { body } = await fetch(`${origin}/v2/renders/${render}/media`);
  if (body !== null) await writeFile(path, counted(body, progress));
}

/** Without `lean`, `fetch` keeps the whole upload in memory: a gigabyte takes 1.1. */
async function bareUpload(origin: string, body: ReadableStream<Uint8Array> | Blob): Promise<unknown> {
  const lean: RequestInit = { redirect: "error", window: null };
  const response = await fetch(`${origin}/v2/images`, { method: "POST", body, duplex: "half", ...lean });
  return response.json();
}

/** What `uploadOnce` does first: it reads the whole file, to know whether it was sent before. */
async function readOnce(path: string): Promise<void> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  hash.digest();
}

const bare = (origin: string): Client => ({
  iterate: lists.fetch(origin).iterate,
  download: (path, progress) => bareDownload(origin, path, progress),
  upload: (source) => bareUpload(origin, source),
  uploadOnce: async (path) => {
    await readOnce(path);
    return bareUpload(origin, await openAsBlob(path));
  },
});

async function bareHttpDownload(origin: string, path: string, progress: (received: number) => void): Promise<void> {
  const { get } = await import("node:http");
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${origin}/v2/renders/${render}/media`, resolve).on("error", reject);
  });
  await writeFile(path, counted(response, progress));
}

async function bareHttpUpload(origin: string, source: ReadableStream<Uint8Array>): Promise<unknown> {
  const { request } = await import("node:http");
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request(`${origin}/v2/images`, { method: "POST" }, resolve);
    pipeline(Readable.fromWeb(source as WebStream), outgoing).catch(reject);
  });
  return json(response);
}

const bareHttp = (origin: string): Client => ({
  iterate: lists.fetch(origin).iterate,
  download: (path, progress) => bareHttpDownload(origin, path, progress),
  upload: (source) => bareHttpUpload(origin, source),
  uploadOnce: async (path) => {
    await readOnce(path);
    return bareHttpUpload(origin, (await openAsBlob(path)).stream());
  },
});

const built = (name: string): string => new URL(`../../../dist/${name}.js`, import.meta.url).href;

const loadBuilt = async () => (await import(built("index"))) as typeof import("pod-partner");
const loadNode = async () => (await import(built("node"))) as typeof import("pod-partner/node");

/** The client of the built package. A gigabyte may take longer than the default timeout of 30 s. */
async function ownClient(origin: string, transport?: Transport): Promise<Omit<Client, "iterate">> {
  const { PodPartner } = await loadBuilt();
  const baseUrl = `${origin}/v2`;
  const partner = new PodPartner({ baseUrl, secretKey: "a-secret-key", timeout: 600_000, transport });
  return {
    download: async (path, progress) => {
      const media = await partner.renders.media(render);
      await media.saveTo(path, { onProgress: ({ received }) => progress(received) });
    },
    upload: (source) => partner.images.upload(source),
    uploadOnce: (path) => partner.images.uploadOnce(path),
  };
}

export const clients = {
  "pod-partner": async (origin) => ({
    iterate: (await lists["pod-partner"](origin)).iterate,
    ...(await ownClient(origin)),
  }),

  "on node:http": async (origin) => ({
    iterate: (await lists["pod-partner on node:http"](origin)).iterate,
    ...(await ownClient(origin, (await loadNode()).nodeTransport())),
  }),

  fetch: bare,

  "node:http": bareHttp,

  /** Shows the memory that the loaded code takes by itself: V8 lets garbage grow with the live heap. */
  "fetch, package loaded": async (origin) => {
    await loadBuilt();
    return bare(origin);
  },
} satisfies Readonly<Record<string, (origin: string) => Client | Promise<Client>>>;

export type ClientName = keyof typeof clients;
