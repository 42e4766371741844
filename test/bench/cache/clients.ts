import { open } from "node:fs/promises";
import { join } from "node:path";
import type { KeyValueStorage } from "pod-partner";

/** Downloads the file of the server to a path. Resolves to whether it came from a cache. */
type Download = (path: string) => Promise<boolean>;

const render = `Render_${"0".repeat(26)}` as const;
const gibibyte = 1024 ** 3;

const built = (name: string): string => new URL(`../../../dist/${name}.js`, import.meta.url).href;
const loadBuilt = async () => (await import(built("index"))) as typeof import("pod-partner");

/** Writes and syncs the file as `saveTo` does, without the temporary name. */
async function bare(origin: string): Promise<Download> {
  await loadBuilt();
  return async (path) => {
    const { body } = await fetch(`${origin}/v2/renders/${render}/media`);
    const file = await open(path, "w");
    for await (const chunk of body ?? []) await file.writeFile(chunk);
    await file.sync();
    await file.close();
    return false;
  };
}

async function own(origin: string, storage?: KeyValueStorage): Promise<Download> {
  const { PodPartner } = await loadBuilt();
  const partner = new PodPartner({
    baseUrl: `${origin}/v2`,
    secretKey: "a-secret-key",
    timeout: 600_000,
    ...(storage !== undefined && { storage, fileCache: { maxSize: 4 * gibibyte } }),
  });
  return async (path) => {
    const media = await partner.renders.media(render);
    await media.saveTo(path);
    return media.fromCache;
  };
}

async function sqlite(origin: string, folder: string): Promise<Download> {
  const { sqliteStorage } = (await import(built("sqlite"))) as typeof import("pod-partner/sqlite");
  return own(origin, sqliteStorage(join(folder, "storage.sqlite"), { organization: "bench" }));
}

export const clients = {
  "bare fetch": bare,
  "without a cache": (origin) => own(origin),
  /** The storage holds 64 MiB, so it forgets the first pieces while the last arrive. */
  "memory storage": async (origin) => own(origin, (await loadBuilt()).memoryStorage()),
  "sqlite storage": sqlite,
  "again, from sqlite": sqlite,
} satisfies Readonly<Record<string, (origin: string, folder: string) => Promise<Download>>>;

export type Way = keyof typeof clients;
