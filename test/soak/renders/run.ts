import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask, start } from "../children.ts";
import type { TransportKind } from "../transport.ts";
import { runClient } from "./client.ts";
import type { Address, Count, Job, Settings } from "./messages.ts";

const combinations = 4;

/** Makes mockups under a weekly limit, with three kills and the rest in the next week. Returns whether each was created once. */
export async function soakRenders(pairs: number, transport: TransportKind): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-renders-"));
  const service = start(new URL("./service.ts", import.meta.url));
  const settings: Settings = { images: pairs / combinations, limit: Math.round(pairs * 0.6) };
  const address = await ask<Address>(service, settings);
  const doubles = Math.round(pairs / 20);
  const job: Job = {
    ...address,
    storage: { kind: "sqlite", at: join(folder, "storage.sqlite") },
    directory: join(folder, "mockups"),
    doubles,
    concurrency: 4,
    transport,
  };
  const began = performance.now();
  const points = [0.15, 0.3, 0.45].map((part) => Math.round(pairs * (part + Math.random() / 8)));
  for (const until of points) {
    await runClient(job, until);
    await ask<Count>(service, "killed");
  }
  const limited = await runClient(job);
  const first = await ask<Count>(service, "next week");
  const finished = await runClient(job);
  const { creations, unexplained, requests, ...last } = await ask<Count>(service, "count");
  const again = await runClient(job);
  const files = (await readdir(job.directory)).filter((name) => name.endsWith(".png")).length;
  service.disconnect();
  await rm(folder, { recursive: true });
  // A creation, a status and a picture for each pair, a look-up for each combination.
  const least = 3 * pairs + combinations;
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
    seconds: Math.round((performance.now() - began) / 1_000),
  });
  const isComplete = last.pairs === pairs && files === pairs && finished?.reasons.ok === pairs + doubles;
  return isComplete && unexplained === 0 && first.creations <= settings.limit + 3 * 4;
}
