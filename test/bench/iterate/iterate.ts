import { start } from "../percall/process.ts";
import { prepare } from "../prepare.ts";
import { median, printTable } from "../table.ts";
import { type ClientName, clientNames } from "./clients.ts";
import { type PageSize, pageSize, pageSizes } from "./pages.ts";
import { duration, type WorkName, workNames } from "./work.ts";
import type { Job } from "./worker.ts";

const pages = 20;
/** Milliseconds that the service takes for a page. */
const latency = 5;

const warmup = 20;
const rounds = 15;
const budget = 0.8;

const serverCore = 0;
const clientCore = 1;
const base: ClientName = "sequential fetch";
const file = (name: string) => new URL(name, import.meta.url).href;

/** Milliseconds of each round, by the caller's work and by client. */
type Times = ReadonlyMap<WorkName, ReadonlyMap<ClientName, number[]>>;

/** The median of the ratios to the sequential loop, round by round, because within a round the machine is the same for both. */
function ratioOf(times: Times, work: WorkName, name: ClientName): number {
  const of = (client: ClientName) => times.get(work)?.get(client) ?? [];
  return median(of(name).map((time, round) => time / (of(base)[round] ?? Number.NaN)));
}

function report(size: PageSize, times: Times): void {
  console.log(
    `\n${pages} pages of ${size} and ${pageSize} items, ${latency} ms of latency and ${duration} ms of work a page: ` +
      `ratio to ${base}, median of ${rounds} rounds; budget with work ${budget.toFixed(2)}`,
  );
  const rows = workNames.map((work) => [
    work,
    median(times.get(work)?.get(base) ?? []).toFixed(0),
    ...clientNames.filter((name) => name !== base).map((name) => ratioOf(times, work, name).toFixed(2)),
  ]);
  printTable(["the caller", `${base}, ms`, ...clientNames.filter((name) => name !== base)], rows);
}

/** The time of iterating a list. Rounds alternate between clients, so that a machine's drift cancels. */
async function measure(size: PageSize): Promise<Times> {
  const server = start(file("server.ts"), serverCore, [String(pages * pageSize), String(latency), size]);
  const origin = `http://127.0.0.1:${await server.ready}`;
  const workers = new Map(clientNames.map((name) => [name, start(file("worker.ts"), clientCore, [name, origin])]));
  const ask = async (name: ClientName, job: Job) => (await workers.get(name)?.ask(job)) as number;
  const times = new Map(workNames.map((work) => [work, new Map(clientNames.map((name) => [name, [] as number[]]))]));
  try {
    await Promise.all([...workers.values()].map(({ ready }) => ready));
    for (const name of clientNames) await ask(name, { times: warmup, work: "no work" });
    for (let round = 0; round < rounds; round += 1) {
      for (const work of workNames) {
        for (const name of clientNames)
          times
            .get(work)
            ?.get(name)
            ?.push(await ask(name, { times: 1, work }));
      }
    }
    return times;
  } finally {
    for (const child of [server, ...workers.values()]) child.stop();
  }
}

/** Compares the iteration of a list whose pages bring work with a loop that fetches one page after the other. */
export async function run(): Promise<void> {
  prepare();
  for (const size of pageSizes) report(size, await measure(size));
}
