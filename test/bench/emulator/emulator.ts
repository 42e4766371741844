import { type Partner, start } from "../percall/process.ts";
import { prepare } from "../prepare.ts";
import { median, printTable } from "../table.ts";
import type { ServerJob, Started } from "./server.ts";
import type { Job } from "./worker.ts";

const rounds = 5;
const requests = 20_000;
const connections = 8;
/** V8 optimises the request path until about here. */
const warmup = 10_000;

const serverCore = 0;
const clientCore = 1;
const file = (name: string) => new URL(name, import.meta.url).href;

const settingOf = (name: string, otherwise: number): number =>
  Number(process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise);

const ask = (server: Partner, job: ServerJob) => server.ask(job);

/** Seconds of CPU time that the server has used. */
async function cpuOf(server: Partner): Promise<number> {
  const { user, system } = (await ask(server, {})) as NodeJS.CpuUsage;
  return (user + system) / 1e6;
}

/** Requests a second, and requests a second of the server's CPU time: the second is the same on a busy machine. */
async function measureRate(server: Partner, worker: Partner, { origin, path, secretKey }: Started) {
  const send = (count: number) =>
    worker.ask({ origin, path, secretKey, requests: count, connections } satisfies Job) as Promise<number>;
  await send(warmup);
  const wall: number[] = [];
  const cpu: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = await cpuOf(server);
    wall.push(requests / ((await send(requests)) / 1000));
    cpu.push(requests / ((await cpuOf(server)) - before));
  }
  return { wall: median(wall), cpu: median(cpu) };
}

/** What the emulator costs: requests a second, and the memory of its log. `--requests=1000000` records that many. */
export async function run(): Promise<void> {
  prepare();
  const server = start(file("server.ts"), serverCore);
  const worker = start(file("worker.ts"), clientCore);
  try {
    const started = (await server.ready) as Started;
    await worker.ready;
    const { wall, cpu } = await measureRate(server, worker, started);
    const recorded = settingOf("requests", 100_000);
    const marks = (await ask(server, { record: recorded })) as readonly number[];
    printTable(
      ["emulator", "measured", "budget"],
      [
        ["GET /orders/{ref} a second", wall.toFixed(0), "≥ 4000"],
        ["GET /orders/{ref} a second of CPU time", cpu.toFixed(0), ""],
        [
          `MB alive at each tenth of ${recorded.toLocaleString("en")} requests`,
          marks.map((mark) => mark.toFixed(0)).join(" "),
          "",
        ],
      ],
    );
  } finally {
    server.stop();
    worker.stop();
  }
}
