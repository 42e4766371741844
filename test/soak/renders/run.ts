import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStorage } from "../../../src/sqlite/index.ts";
import { ask, start } from "../children.ts";
import type { TransportKind } from "../transport.ts";
import { runClient } from "./client.ts";
import type { Address, Count, Creation, Death, Job, Settings } from "./messages.ts";

const combinations = 4;

/** The pairs whose render is in a storage. */
async function storedPairs(path: string): Promise<string[]> {
  const storage = sqliteStorage(path);
  const pairs: string[] = [];
  for await (const key of storage.keys("pod-partner:")) {
    const [, pair] = key.split(":render:");
    if (pair !== undefined) pairs.push(pair);
  }
  await storage.close();
  return pairs;
}

/** A repeated creation, and what its client knew at its end. The times are in milliseconds since the start. */
function rowOf({ pair, run, read, answered, status }: Creation, deaths: readonly Death[], began: number) {
  const death = deaths.find((one) => one.run === run);
  const since = (time: number | undefined) => time && time - began;
  return {
    pair,
    run,
    read: since(read),
    answered: since(answered),
    status,
    "client ended": since(death?.at),
    "it had stored it": death?.stored.includes(pair),
  };
}

/** Makes mockups under a weekly limit, with three kills and the rest in the next week. Returns whether each was created once. */
export async function soakRenders(pairs: number, transport: TransportKind): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-renders-"));
  const service = start(new URL("./service.ts", import.meta.url));
  const settings: Settings = { images: pairs / combinations, limit: Math.round(pairs * 0.6) };
  const address = await ask<Address>(service, settings);
  const doubles = Math.round(pairs / 20);
  const path = join(folder, "storage.sqlite");
  const job: Job = {
    ...address,
    run: 0,
    storage: { kind: "sqlite", at: path },
    directory: join(folder, "mockups"),
    doubles,
    concurrency: 4,
    transport,
  };
  const began = Date.now();
  const points = [0.15, 0.3, 0.45].map((part) => Math.round(pairs * (part + Math.random() / 8)));
  const deaths: Death[] = [];
  for (const [run, until] of points.entries()) {
    await runClient({ ...job, run }, until);
    const death: Death = { run, at: Date.now(), stored: await storedPairs(path) };
    deaths.push(death);
    service.send(death);
  }
  const limited = await runClient({ ...job, run: points.length });
  const first = await ask<Count>(service, "next week");
  const finished = await runClient({ ...job, run: points.length + 1 });
  const { creations, repeated, unexplained, requests, ...last } = await ask<Count>(service, "count");
  const again = await runClient({ ...job, run: points.length + 2 });
  const files = (await readdir(job.directory)).filter((name) => name.endsWith(".png")).length;
  service.disconnect();
  await rm(folder, { recursive: true });
  // A creation, a status and a picture for each pair, a look-up for each combination.
  const least = 3 * pairs + combinations;
  console.table(repeated.map((creation) => rowOf(creation, deaths, began)));
  console.table({
    "killed after outcomes": points.join(", "),
    "first week": JSON.stringify(limited?.reasons),
    "created in the first week": first.creations,
    "second week": JSON.stringify(finished?.reasons),
    creations,
    "pairs created": last.pairs,
    "created again after a lost response": creations - last.pairs,
    "created again without a reason": unexplained,
    files,
    requests,
    "least possible": least,
    "requests of another run": again?.requests,
    "megabytes early, at most": `${finished?.early}, ${finished?.peak}`,
    seconds: Math.round((Date.now() - began) / 1_000),
  });
  const isComplete = last.pairs === pairs && files === pairs && finished?.reasons.ok === pairs + doubles;
  return isComplete && unexplained === 0 && first.creations <= settings.limit + 3 * 4;
}
