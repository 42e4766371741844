import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask, start } from "../../soak/children.ts";
import { runClient } from "../../soak/renders/client.ts";
import type { Address, Job } from "../../soak/renders/messages.ts";
import { prepare } from "../prepare.ts";
import { printTable } from "../table.ts";
import { runVirtual } from "./virtual.ts";

const combinations = 4;

const countOf = (): number =>
  Number(process.argv.find((argument) => argument.startsWith("--rows="))?.slice(7) ?? 10_000);

/** Runs a batch in a process of its own. */
async function measure(job: Job): Promise<string[]> {
  const began = performance.now();
  const result = await runClient(job);
  const seconds = (performance.now() - began) / 1_000;
  return [seconds.toFixed(1), `${result?.cpu}`, `${result?.peak}`, `${result?.requests}`];
}

/**
 * The time and the requests of batches in virtual time; then the time and memory of one whose pictures are saved, with SQLite as the
 * storage. `--rows=` makes that one smaller.
 */
export async function run(): Promise<void> {
  prepare();
  await runVirtual();
  const rows = countOf();
  const folder = await mkdtemp(join(tmpdir(), "pod-partner-batch-"));
  const service = start(new URL("../../soak/renders/service.ts", import.meta.url));
  const address = await ask<Address>(service, { images: rows / combinations, limit: rows });
  const job = {
    ...address,
    run: 0,
    storage: { kind: "sqlite", at: join(folder, "storage.sqlite") } as const,
    directory: folder,
    doubles: 1,
    concurrency: 8,
    transport: "fetch" as const,
  };
  try {
    const headings = [`${rows.toLocaleString("en")} mockups`, "seconds", "CPU seconds", "peak MB", "requests"];
    printTable(headings, [
      ["created and saved", ...(await measure(job))],
      ["again, with the same storage", ...(await measure(job))],
    ]);
  } finally {
    service.disconnect();
    await rm(folder, { recursive: true });
  }
}
