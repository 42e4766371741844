import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask, start } from "../../soak/children.ts";
import type { Address, Job, Result } from "../../soak/renders/messages.ts";
import { printTable } from "../table.ts";

const combinations = 4;
const soak = (name: string) => new URL(`../../soak/renders/${name}`, import.meta.url);

const countOf = (): number =>
  Number(process.argv.find((argument) => argument.startsWith("--rows="))?.slice(7) ?? 10_000);

/** Runs a batch in a process of its own. */
async function measure(job: Job): Promise<string[]> {
  const child = start(soak("worker.ts"));
  const exit = once(child, "exit");
  const began = performance.now();
  let result: Result | undefined;
  child.on("message", (message: Result | { readonly count: number }) => {
    if ("reasons" in message) result = message;
  });
  child.send(job);
  await exit;
  const seconds = (performance.now() - began) / 1_000;
  return [seconds.toFixed(1), `${result?.cpu}`, `${result?.peak}`, `${result?.requests}`];
}

/** The time and memory of a batch whose pictures are saved, with SQLite as the store. `--rows=` makes it smaller. */
export async function run(): Promise<void> {
  const rows = countOf();
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-batch-"));
  const service = start(soak("service.ts"));
  const address = await ask<Address>(service, { images: rows / combinations, limit: rows });
  const job = { ...address, store: join(folder, "store.sqlite"), directory: folder, doubles: 1, concurrency: 8 };
  try {
    const headings = [`${rows.toLocaleString("en")} mockups`, "seconds", "CPU seconds", "peak MB", "requests"];
    printTable(headings, [
      ["created and saved", ...(await measure(job))],
      ["again, with the same store", ...(await measure(job))],
    ]);
  } finally {
    service.disconnect();
    await rm(folder, { recursive: true });
  }
}
