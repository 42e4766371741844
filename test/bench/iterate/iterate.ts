import { type ClientName, clientNames } from "../clients.ts";
import { start } from "../percall/process.ts";
import { prepare } from "../prepare.ts";
import { base, medianOf, ratioOf, type Samples, sample } from "../samples.ts";
import { printTable } from "../table.ts";
import { type PageSize, pageSize, pageSizes } from "./pages.ts";
import { duration, type WorkName, workNames } from "./work.ts";
import type { Job } from "./worker.ts";

const pages = 20;
/** Milliseconds that the service takes for a page. */
const latency = 5;

/** V8 optimises for thousands of calls. The clients warm up in parallel, because most of the time is latency. */
const warmup = 60;
const rounds = 15;
const budget = 0.85;

const serverCore = 0;
const clientCore = 1;
const file = (name: string) => new URL(name, import.meta.url).href;

type Measured = ReadonlyMap<WorkName, Samples>;

function report(size: PageSize, measured: Measured): void {
  console.log(
    `\n${pages} pages of ${size} and ${pageSize} items, ${latency} ms of latency and ${duration} ms of work a page: ` +
      `ratio to a sequential ${base} loop, median of ${rounds} rounds; budget with work ${budget.toFixed(2)}`,
  );
  const others = clientNames.filter((name) => name !== base);
  const rows = [...measured].map(([work, samples]) => [
    work,
    medianOf(samples, base).toFixed(0),
    ...others.map((name) => ratioOf(samples, name).toFixed(2)),
  ]);
  printTable(["the caller", `${base}, ms`, ...others], rows);
}

/** The milliseconds of iterating a list with pages of this size, for each of these ways to work. */
export async function measureIteration(size: PageSize, works: readonly WorkName[]): Promise<Measured> {
  const server = start(file("server.ts"), serverCore, [String(pages * pageSize), String(latency), size]);
  const origin = `http://127.0.0.1:${await server.ready}`;
  const workers = new Map(clientNames.map((name) => [name, start(file("worker.ts"), clientCore, [name, origin])]));
  const ask = async (name: ClientName, job: Job) => (await workers.get(name)?.ask(job)) as number;
  try {
    await Promise.all([...workers.values()].map(({ ready }) => ready));
    await Promise.all(clientNames.map((name) => ask(name, { times: warmup, work: "no work" })));
    const measured = new Map<WorkName, Samples>();
    for (const work of works) measured.set(work, await sample(rounds, (name) => ask(name, { times: 1, work })));
    return measured;
  } finally {
    for (const child of [server, ...workers.values()]) child.stop();
  }
}

/** Compares the iteration of a list, on whose pages the caller works, with a loop that fetches one page after the other. */
export async function run(): Promise<void> {
  prepare();
  for (const size of pageSizes) report(size, await measureIteration(size, workNames));
}
