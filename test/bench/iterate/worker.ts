/** A process of one client: goes through the list as often as it is told, and says how long the last time took. */
import { type ClientName, clients } from "./clients.ts";
import { pageSize } from "./pages.ts";

/** What the parent asks for. */
export interface Job {
  readonly times: number;
  /** Milliseconds of work that the caller has with each page. */
  readonly work: number;
}

const [, , name, origin] = process.argv as [string, string, ClientName, string];
const loop = await clients[name](origin);

function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** Milliseconds of one time through the list. The work comes with the first item of each page. */
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
