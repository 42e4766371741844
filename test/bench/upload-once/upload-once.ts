import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bytes } from "../memory/bytes.ts";
import { start } from "../percall/process.ts";
import { prepare } from "../prepare.ts";
import { median, printTable } from "../table.ts";
import { type ClientName, clients } from "./clients.ts";
import type { Upload } from "./worker.ts";

const rounds = 3;
/** Megabytes over the bare client that does the same, and the least part of its throughput. */
const budget = { over: 20, throughput: 0.95 };

const names = Object.keys(clients) as ClientName[];
const same: ClientName = "hash + fetch";
const serverCore = 0;
const clientCore = 1;
const file = (name: string) => new URL(name, import.meta.url).href;

/** An upload in a new process. */
async function measure(name: ClientName, origin: string, path: string): Promise<Upload> {
  const worker = start(file("worker.ts"), clientCore, [name, origin]);
  try {
    await worker.ready;
    return (await worker.ask({ path })) as Upload;
  } finally {
    worker.stop();
  }
}

function print(measured: ReadonlyMap<ClientName, readonly Upload[]>, megabytes: number): void {
  const of = (name: ClientName) => measured.get(name) ?? [];
  const speed = (name: ClientName) => (megabytes / median(of(name).map(({ took }) => took))) * 1e3;
  // Round by round, because within a round the machine is the same for both.
  const ratio = (name: ClientName) =>
    median(of(name).map(({ took }, round) => (of(same)[round]?.took ?? Number.NaN) / took));
  const peak = (name: ClientName) => median(of(name).map((upload) => upload.peak));
  printTable(
    [`${megabytes} MB from a file`, ...names, "budget"],
    [
      ["MB/s", ...names.map((name) => speed(name).toFixed(0)), ""],
      [`throughput, × ${same}`, ...names.map((name) => ratio(name).toFixed(2)), `≥ ${budget.throughput}`],
      ["peak, MB", ...names.map((name) => peak(name).toFixed(0)), `≤ ${(peak(same) + budget.over).toFixed(0)}`],
    ],
  );
}

/** The memory and the throughput of `images.uploadOnce` for a large file. `--mb=` makes it smaller. */
export async function run(): Promise<void> {
  prepare();
  const given = process.argv.find((argument) => argument.startsWith("--mb="));
  const megabytes = Number(given?.slice("--mb=".length) ?? 500);
  const folder = mkdtempSync(join(tmpdir(), "pod-partner-upload-"));
  const path = join(folder, "file.png");
  const server = start(new URL("../memory/server.ts", import.meta.url).href, serverCore, ["1", "1"]);
  try {
    await writeFile(path, bytes(megabytes * 1e6));
    const origin = `http://127.0.0.1:${await server.ready}`;
    const measured = new Map<ClientName, Upload[]>(names.map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, uploads] of measured) uploads.push(await measure(name, origin, path));
    }
    print(measured, megabytes);
  } finally {
    server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
