import { writeFile } from "node:fs/promises";
import { type Client as ListClient, clients as lists } from "../clients.ts";

/** The measured operations of a client. */
export interface Client {
  readonly iterate: ListClient["iterate"];
  /** Saves a file, and reports the received bytes as it proceeds. */
  readonly download: (path: string, progress: (received: number) => void) => Promise<void>;
  readonly upload: (source: ReadableStream<Uint8Array>) => Promise<unknown>;
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
async function bareUpload(origin: string, source: ReadableStream<Uint8Array>): Promise<unknown> {
  const lean: RequestInit = { redirect: "error", window: null };
  const response = await fetch(`${origin}/v2/images`, { method: "POST", body: source, duplex: "half", ...lean });
  return response.json();
}

const bare = (origin: string): Client => ({
  iterate: lists.fetch(origin).iterate,
  download: (path, progress) => bareDownload(origin, path, progress),
  upload: (source) => bareUpload(origin, source),
});

const loadBuilt = async () => {
  const built: string = new URL("../../../dist/index.js", import.meta.url).href;
  return (await import(built)) as typeof import("pod-partner");
};

export const clients = {
  "pod-partner": async (origin) => {
    const { PodPartner } = await loadBuilt();
    // A gigabyte may take longer than the default timeout of 30 s.
    const partner = new PodPartner({ baseUrl: `${origin}/v2`, secretKey: "a-secret-key", timeout: 600_000 });
    return {
      iterate: (await lists["pod-partner"](origin)).iterate,
      download: async (path, progress) => {
        const media = await partner.renders.media(render);
        await media.saveTo(path, { onProgress: ({ received }) => progress(received) });
      },
      upload: (source) => partner.images.upload(source),
    };
  },

  fetch: bare,

  /** Shows the memory that the loaded code takes by itself: V8 lets garbage grow with the live heap. */
  "fetch, package loaded": async (origin) => {
    await loadBuilt();
    return bare(origin);
  },
} satisfies Readonly<Record<string, (origin: string) => Client | Promise<Client>>>;

export type ClientName = keyof typeof clients;
