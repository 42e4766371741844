import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask, start } from "../children.ts";
import { type StorageKind, startStore } from "../open-storage.ts";
import { runClient } from "./client.ts";
import type { Address, Count, Job, Settings } from "./messages.ts";

const combinations = 4;
const doubles = 1;

/** Makes the same mockups in several processes with one storage, all at the same time. Returns whether each was created once. */
export async function soakTogether(pairs: number, processes: number, kind: StorageKind): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-renders-"));
  const store = await startStore(kind, folder);
  const service = start(new URL("./service.ts", import.meta.url));
  // The tokens suffice for all pairs in each process.
  const settings: Settings = { images: pairs / combinations, limit: (pairs + doubles) * processes };
  const address = await ask<Address>(service, settings);
  const job: Job = {
    ...address,
    run: 0,
    storage: store.place,
    directory: join(folder, "mockups"),
    doubles,
    concurrency: 4,
    transport: "fetch",
  };
  const began = performance.now();
  const results = await Promise.all(Array.from({ length: processes }, () => runClient(job)));
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  const { creations, pairs: created, requests } = await ask<Count>(service, "count");
  const files = (await readdir(job.directory)).filter((name) => name.endsWith(".png")).length;
  service.disconnect();
  await store.end();
  await rm(folder, { recursive: true });
  console.table({
    storage: kind,
    processes,
    pairs,
    creations,
    "pairs created": created,
    outcomes: results.map((result) => JSON.stringify(result?.reasons)).join(", "),
    "requests of each process": results.map((result) => result?.requests).join(", "),
    requests,
    files,
    seconds,
  });
  const isComplete = results.every((result) => result?.reasons.ok === pairs + doubles);
  return isComplete && creations === pairs && created === pairs && files === pairs;
}
