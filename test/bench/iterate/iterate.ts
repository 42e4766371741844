import { start } from "../percall/process.ts";
import { prepare } from "../prepare.ts";
import { median, printTable } from "../table.ts";
import { type ClientName, clients } from "./clients.ts";
import { pageSize } from "./pages.ts";
import type { Job } from "./worker.ts";

const pages = 20;
/** Milliseconds that the service needs for a page, and then the caller. */
const latency = 5;
const work = 2;

const warmup = 20;
const rounds = 31;
const budget = 0.8;

const serverCore = 0;
const clientCore = 1;
const names = Object.keys(clients) as ClientName[];
const byHand: ClientName = "a loop written by hand";
const file = (name: string) => new URL(name, import.meta.url).href;

function report(times: ReadonlyMap<ClientName, readonly number[]>): void {
  const of = (name: ClientName) => times.get(name) ?? [];
  /** Compared round by round, because the machine is the same for both within a round. */
  const ratio = (name: ClientName) =>
    median(of(name).map((time, round) => time / (of(byHand)[round] ?? Number.NaN))).toFixed(2);
  const rows = names.map((name) => [
    name,
    median(of(name)).toFixed(1),
    ratio(name),
    name === "pod-partner" ? String(budget) : "",
    `${Math.min(...of(name)).toFixed(1)}–${Math.max(...of(name)).toFixed(1)}`,
  ]);
  console.log(
    `${pages} pages of ${pageSize}, ${latency} ms of latency and ${work} ms of work a page: ${rounds} rounds; at least ` +
      `${pages * (latency + work)} ms one after the other, ${pages * Math.max(latency, work) + Math.min(latency, work)} ms at the same time`,
  );
  printTable(["", "ms", "to the loop by hand", "budget", "min–max"], rows);
}

/** The time to iterate a list when the caller works on each page. Rounds alternate between clients, so that a drift of the machine cancels out. */
export async function run(): Promise<void> {
  prepare();
  const server = start(file("server.ts"), serverCore, [String(pages * pageSize), String(latency)]);
  const origin = `http://127.0.0.1:${await server.ready}`;
  const workers = new Map(names.map((name) => [name, start(file("worker.ts"), clientCore, [name, origin])]));
  const measure = async (name: ClientName, times: number) => {
    const job: Job = { times, work };
    return (await workers.get(name)?.ask(job)) as number;
  };
  try {
    await Promise.all([...workers.values()].map(({ ready }) => ready));
    for (const name of names) await measure(name, warmup);
    const times = new Map<ClientName, number[]>(names.map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const name of names) times.get(name)?.push(await measure(name, 1));
    }
    report(times);
  } finally {
    for (const child of [server, ...workers.values()]) child.stop();
  }
}
