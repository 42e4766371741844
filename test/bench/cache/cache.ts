import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { start } from "../percall/process.ts";
import { build } from "../prepare.ts";
import { median, printTable } from "../table.ts";
import { clients, type Way } from "./clients.ts";
import type { Job, Measured } from "./worker.ts";

const rounds = 3;
const ways = Object.keys(clients) as Way[];
const file = (name: string) => new URL(name, import.meta.url).href;

/** A large file to disk, each time in a process of its own. `--mb=` makes it smaller. */
export async function run(): Promise<void> {
  build();
  const megabytes = Number(process.argv.find((argument) => argument.startsWith("--mb="))?.slice(5) ?? 1_000);
  const folder = mkdtempSync(join(tmpdir(), "pod-partner-cache-"));
  const server = start(file("../memory/server.ts"), 0, ["20", String(megabytes)]);
  const measured = new Map<Way, Measured[]>(ways.map((way) => [way, []]));
  try {
    const origin = `http://127.0.0.1:${await server.ready}`;
    for (let round = 0; round < rounds; round += 1) {
      for (const way of ways) {
        if (way === "sqlite storage")
          for (const part of ["", "-wal", "-shm"]) rmSync(join(folder, `storage.sqlite${part}`), { force: true });
        const worker = start(file("worker.ts"), 1, [way, origin]);
        try {
          await worker.ready;
          const job: Job = { path: join(folder, "file.png"), folder };
          measured.get(way)?.push((await worker.ask(job)) as Measured);
        } finally {
          worker.stop();
          rmSync(join(folder, "file.png"), { force: true });
        }
      }
    }
  } finally {
    server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  const of = (way: Way, what: "seconds" | "peak") => median((measured.get(way) ?? []).map((one) => one[what]));
  const throughput = (way: Way) => megabytes / of(way, "seconds");
  const base = throughput("bare fetch");
  printTable(
    [`${megabytes} MB to disk`, "MB/s", "× fetch", "budget", "peak MB", "budget", "from cache"],
    ways.map((way) => [
      way,
      throughput(way).toFixed(0),
      (throughput(way) / base).toFixed(2),
      way === "memory storage" ? "≥ 0.95" : "",
      of(way, "peak").toFixed(0),
      `≤ ${(of("bare fetch", "peak") + 20).toFixed(0)}`,
      String(measured.get(way)?.every(({ fromCache }) => fromCache)),
    ]),
  );
}
