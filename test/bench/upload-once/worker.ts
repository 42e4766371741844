/** A process that uploads a file with one client, and reports the time and the memory that it took. */
import { readFileSync } from "node:fs";
import { type ClientName, clients } from "./clients.ts";

/** The result of an upload. */
export interface Upload {
  /** Milliseconds. */
  readonly took: number;
  /** The peak of the resident memory in megabytes. */
  readonly peak: number;
}

const [, , name, origin] = process.argv as [string, string, ClientName, string];
const upload = await clients[name](origin);

/** `maxRSS` starts at the value of the parent process; Linux's own figure does not. */
function peak(): number {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS / 1e3;
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1.024e-3;
}

process.on("message", async ({ path }: { readonly path: string }) => {
  const began = performance.now();
  await upload(path);
  process.send?.({ took: performance.now() - began, peak: peak() } satisfies Upload);
});
process.send?.("ready");
