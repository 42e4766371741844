/** A process of one client: iterates the list as often as the parent asks for, and reports how long the last iteration took. */
import { type ClientName, clients } from "../clients.ts";
import type { Each } from "../loops.ts";
import { pageSize } from "./pages.ts";
import { type WorkName, works } from "./work.ts";

/** What the parent asks for. */
export interface Job {
  readonly times: number;
  readonly work: WorkName;
}

const [, , name, origin] = process.argv as [string, string, ClientName, string];
const { iterate } = await clients[name](origin);

/** Milliseconds of one iteration of the list. */
async function measure(work: WorkName): Promise<number> {
  let seen = 0;
  const each: Each = () => works[work](seen++ % pageSize);
  const began = performance.now();
  await iterate(each);
  return performance.now() - began;
}

process.on("message", async ({ times, work }: Job) => {
  let took = 0;
  for (let time = 0; time < times; time += 1) took = await measure(work);
  process.send?.(took);
});
process.send?.("ready");
