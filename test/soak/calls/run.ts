import { once } from "node:events";
import { ask, start } from "../children.ts";
import type { TransportKind } from "../transport.ts";
import type { Census, Job, Report, Tally } from "./messages.ts";

/** The bytes by which the heap may grow from the first census to the last. */
const growth = 2 * 1_048_576;

const megabytes = (bytes: number) => Math.round((bytes / 1_048_576) * 10) / 10;

const toRow = ({ heap, rss, seconds, ...counts }: Census) => ({
  ...counts,
  "heap MB": megabytes(heap),
  "rss MB": megabytes(rss),
  seconds: Math.round(seconds),
});

/** Makes the calls, prints what is open meanwhile, and returns whether the end equals the start. */
export async function soakCalls(calls: number, transport: TransportKind): Promise<boolean> {
  const service = start(new URL("./service.ts", import.meta.url));
  const baseUrl = await ask<string>(service);
  const worker = start(new URL("./worker.ts", import.meta.url), "--expose-gc");
  const exit = once(worker, "exit");
  const censuses: Census[] = [];
  worker.on("message", (report: Report) => {
    if ("census" in report) {
      censuses.push(report.census);
      console.log(`${report.census.calls} calls after ${Math.round(report.census.seconds)} s`);
    } else console.table(report.errors);
  });
  const job: Job = { baseUrl, calls, concurrency: 96, seed: 20_261_123, transport };
  worker.send(job);
  const [code] = await exit;
  const tally = await ask<Tally>(service, "count");
  service.disconnect();
  console.table(censuses.map(toRow));
  console.table([tally]);
  const [first, last] = [censuses[0], censuses.at(-1)];
  if (code !== 0 || first === undefined || last === undefined) return false;
  const open = last.listeners + last.timers + Math.max(0, last.sockets - first.sockets);
  return open + last.untyped + tally.twice === 0 && last.heap - first.heap < growth && last.calls === calls;
}
