import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { redisInstalled, startRedis } from "../../support/redis.ts";
import { ask, start } from "../children.ts";
import type { ScaleJob, ScaleResult } from "./scale-worker.ts";

/** The part of the followed orders that is open. */
const open = 0.05;

async function measure(followed: number, storage: ScaleJob["storage"]): Promise<object> {
  const steps = { fill: start(new URL("./scale-worker.ts", import.meta.url)) };
  const job = { storage, completed: Math.round(followed * (1 - open)), open: Math.round(followed * open) };
  await ask(steps.fill, { ...job, step: "fill" } satisfies ScaleJob);
  steps.fill.disconnect();
  const sweeping = start(new URL("./scale-worker.ts", import.meta.url), "--expose-gc");
  const result = await ask<ScaleResult>(sweeping, { ...job, step: "sweep" } satisfies ScaleJob);
  sweeping.disconnect();
  return { storage: storage.kind, followed, open: job.open, ...result };
}

/**
 * Follows orders of which a twentieth is open, and measures a new process: the time from its start to the first request of its sweep, the
 * time of the sweep without the service, and the memory. Returns whether the sweep sent one request for each open order.
 */
export async function measureFollower(followed: number): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-"));
  const results = [await measure(followed, { kind: "sqlite", at: join(folder, "storage.db") })];
  if (redisInstalled) {
    const redis = await startRedis();
    results.push(await measure(followed, { kind: "redis", at: redis.url }));
    await redis.kill();
  }
  await rm(folder, { recursive: true });
  console.table(results);
  return results.every((result) => Reflect.get(result, "requests") === Math.round(followed * open));
}
