/** A process that downloads one file to disk with one client, and reports the time and the memory that it took. */
import { readFileSync } from "node:fs";
import { clients, type Way } from "./clients.ts";

/** The message from the parent process. */
export interface Job {
  /** Where the file is saved. */
  readonly path: string;
  /** Where a storage on disk is. */
  readonly folder: string;
}

export interface Measured {
  readonly seconds: number;
  /** Megabytes. */
  readonly peak: number;
  readonly fromCache: boolean;
}

/** `maxRSS` starts at the value of the parent process; Linux's own figure does not. */
function peak(): number {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS / 1e3;
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1.024e-3;
}

const [, , way, origin] = process.argv as [string, string, Way, string];

process.on("message", async ({ path, folder }: Job) => {
  const download = await clients[way](origin, folder);
  const began = performance.now();
  const fromCache = await download(path);
  const seconds = (performance.now() - began) / 1e3;
  process.send?.({ seconds, peak: peak(), fromCache } satisfies Measured);
});
process.send?.("ready");
