import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { start } from "../percall/process.ts";
import { prepare } from "../prepare.ts";
import { median, printTable } from "../table.ts";
import { bytes } from "./bytes.ts";
import { type ClientName, clients } from "./clients.ts";
import type { Job, Memory } from "./worker.ts";

/** The reserve of V8 differs from process to process: each measurement has a process of its own, and the median counts. */
const rounds = 3;
const marks = [0.1, 0.5, 1];
/** Megabytes. */
const budget = { growth: 2, over: 20 };

const names = Object.keys(clients) as ClientName[];
const [own = "", ...others] = names;

const serverCore = 0;
const clientCore = 1;
const file = (name: string) => new URL(name, import.meta.url).href;

const settingOf = (name: string, otherwise: number): number =>
  Number(process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise);

/** A task in a new process. */
async function measure(client: ClientName, origin: string, job: Job): Promise<Memory> {
  const worker = start(file("worker.ts"), clientCore, [client, origin]);
  try {
    await worker.ready;
    return (await worker.ask(job)) as Memory;
  } finally {
    worker.stop();
  }
}

/** The rows of one task for all clients. */
async function measureTask(title: string, origin: string, job: Omit<Job, "marks">): Promise<string[][]> {
  const measured = new Map<ClientName, Memory[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) measured.get(name)?.push(await measure(name, origin, { ...job, marks: [] }));
  }
  // `uploadOnce` reports no progress.
  const { alive } = job.task === "uploadOnce" ? { alive: [] } : await measure("pod-partner", origin, { ...job, marks });
  const of = (name: ClientName, what: "before" | "peak" | "took") =>
    median((measured.get(name) ?? []).map((memory) => memory[what]));
  const limits = (["fetch", "node:http"] as const)
    .map((name) => `≤ ${(of(name, "peak") + budget.over).toFixed(0)}`)
    .join(", ");
  const row = (what: "before" | "peak" | "took", wanted = "") => {
    const [ours = "", ...theirs] = names.map((name) => of(name, what).toFixed(what === "took" ? 2 : 0));
    return [ours, wanted, ...theirs];
  };
  return [
    [title],
    ...alive.map((megabytes, index) => [`  alive at ${100 * (marks[index] ?? 0)} %`, megabytes.toFixed(1)]),
    ...alive
      .slice(0, 1)
      .map((first) => ["  growth of the heap", (Math.max(...alive) - first).toFixed(1), `< ${budget.growth}`]),
    ["  peak", ...row("peak", limits)],
    ["  at the start", ...row("before")],
    ["  seconds", ...row("took")],
  ];
}

/** The memory for a long list and a large file. `--items=` and `--mb=` make them smaller. */
export async function run(): Promise<void> {
  prepare();
  const items = settingOf("items", 1_000_000);
  const megabytes = settingOf("mb", 1_000);
  const folder = mkdtempSync(join(tmpdir(), "pod-partner-memory-"));
  const server = start(file("server.ts"), serverCore, [String(items), String(megabytes)]);
  try {
    const origin = `http://127.0.0.1:${await server.ready}`;
    const path = join(folder, "file.png");
    const size = megabytes * 1e6;
    const source = join(folder, "source.png");
    await writeFile(source, bytes(size));
    printTable(
      ["megabytes", own, "budget", ...others],
      [
        ...(await measureTask(`${items.toLocaleString("en")} orders iterated`, origin, {
          task: "iterate",
          size: items,
          path,
        })),
        ...(await measureTask(`${megabytes} MB saved to a file`, origin, { task: "download", size, path })),
        ...(await measureTask(`${megabytes} MB uploaded from a stream`, origin, { task: "upload", size, path })),
        ...(await measureTask(`${megabytes} MB uploaded once from a file`, origin, {
          task: "uploadOnce",
          size,
          path: source,
        })),
      ],
    );
  } finally {
    server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
