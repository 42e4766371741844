import { createHash } from "node:crypto";
import { createReadStream, openAsBlob } from "node:fs";
import type { Transport } from "../../../src/http/transport.ts";

/** Uploads a file. */
export type UploadFile = (path: string) => Promise<unknown>;

const built = (name: string): string => new URL(`../../../dist/${name}.js`, import.meta.url).href;
const loadBuilt = async () => (await import(built("index"))) as typeof import("pod-partner");
const loadNode = async () => (await import(built("node"))) as typeof import("pod-partner/node");

async function post(origin: string, path: string): Promise<unknown> {
  // Without `redirect` and `window`, `fetch` keeps the whole upload in memory.
  const lean: RequestInit = { redirect: "error", window: null };
  const response = await fetch(`${origin}/v2/images`, { method: "POST", body: await openAsBlob(path), ...lean });
  return response.json();
}

/** What `uploadOnce` does besides: it reads the whole file, to know whether it was sent before. */
async function hashed(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex");
}

/** A client of the built package. Half a gigabyte may take longer than the default timeout. */
async function client(origin: string, transport?: Transport) {
  const { PodPartner } = await loadBuilt();
  return new PodPartner({ baseUrl: `${origin}/v2`, secretKey: "a-secret-key", timeout: 600_000, transport });
}

export const clients = {
  uploadOnce: async (origin) => {
    const { images } = await client(origin);
    return (path) => images.uploadOnce(path);
  },

  "of a stream": async (origin) => {
    const { images } = await client(origin);
    return (path) => images.uploadOnce(createReadStream(path));
  },

  "on node:http": async (origin) => {
    const { images } = await client(origin, (await loadNode()).nodeTransport());
    return (path) => images.uploadOnce(path);
  },

  /** The package is loaded, because V8 lets garbage grow with the live heap. */
  "hash + fetch": async (origin) => {
    await loadBuilt();
    return async (path) => {
      await hashed(path);
      return post(origin, path);
    };
  },

  fetch: async (origin) => {
    await loadBuilt();
    return (path) => post(origin, path);
  },
} satisfies Readonly<Record<string, (origin: string) => Promise<UploadFile>>>;

export type ClientName = keyof typeof clients;
