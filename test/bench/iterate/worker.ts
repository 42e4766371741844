/** A process of one client: iterates the list as often as requested, and reports the duration of the last time. */
import { type ClientName, clients } from "./clients.ts";
import { pageSize } from "./pages.ts";

/** The message from the parent process. */
export interface Job {
  readonly times: number;
  /** Milliseconds of work for each page. */
  readonly work: number;
}

const [, , name, origin] = process.argv as [string, string, ClientName, string];
const loop = await clients[name](origin);

function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** Milliseconds of one iteration. The work is done at the first item of each page. */
async function measure(ms: number): Promise<number> {
  let seen = 0;
  const began = performance.now();
  await loop(() => {
    if (seen % pageSize === 0) work(ms);
    seen += 1;
  });
  return performance.now() - began;
}

process.on("message", async (job: Job) => {
  let took = 0;
  for (let time = 0; time < job.times; time += 1) took = await measure(job.work);
  process.send?.(took);
});
process.send?.("ready");
