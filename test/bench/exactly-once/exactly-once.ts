import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { prepare } from "../prepare.ts";
import { printTable } from "../table.ts";

const clientNames = [
  "pod-partner",
  "pod-partner, lookFirst: false",
  "fetch with retries",
  "a generated client",
] as const;
export type ClientName = (typeof clientNames)[number];

const orders = Number(process.env.ORDERS ?? 10_000);
const kills = 3;
const worker = fileURLToPath(new URL("worker.ts", import.meta.url));

/** A file of the built package. `npm run` sets the current folder. */
const built = (name: string): string => new URL(`dist/${name}.js`, `file://${process.cwd()}/`).href;

/** Numbers from 0 to 1, the same for each client. */
function* random(): Generator<number, never> {
  for (let state = 7; ; ) {
    state = (state * 48_271) % 2_147_483_647;
    yield state / 2_147_483_647;
  }
}

interface Row {
  readonly made: number;
  readonly doubled: number;
  readonly lost: number;
  readonly requests: number;
  readonly seconds: number;
}

async function measure(name: ClientName): Promise<Row> {
  const { PodPartner } = (await import(built("index"))) as typeof import("pod-partner");
  const { sampleImage, startEmulator } = (await import(built("testing"))) as typeof import("pod-partner/testing");
  const emulator = await startEmulator({
    port: 0,
    seed: { number: 1 },
    // A service that does not refuse an identifier that it knows: the specification does not show whether it does.
    repeatedIdentifier: "create",
    limits: { default: { quota: 60_000, window: 60_000 } },
    requestLog: { entries: 1 },
  });
  const { reference: imageReference } = await new PodPartner(emulator.clientOptions).images.upload(sampleImage());
  const { stores, products } = emulator.demo;
  const references = { storeReference: stores.api, productReference: products.slimCase, imageReference };
  const numbers = random();
  /** Of the requests that make an order: a part meets this fault. */
  const some = (part: number) => () => numbers.next().value < part;
  const on = "orders.create";
  emulator.faults.add({ on, nth: some(0.02), fault: "drop" });
  emulator.faults.add({ on, nth: some(0.02), fault: "drop", when: "before" });
  emulator.faults.add({ on, nth: some(0.02), fault: "status", status: 502 });
  emulator.faults.add({ on, nth: some(0.01), fault: "truncate" });
  emulator.faults.add({ on, nth: some(0.01), fault: "gateway", ms: 500, processing: 2_000 });
  emulator.faults.add({ on: "orders.lookup", nth: some(0.03), fault: "drop" });

  const folder = mkdtempSync(join(tmpdir(), "exactly-once-"));
  const environment = {
    ...process.env,
    POD_PARTNER_BASE_URL: emulator.baseUrl,
    POD_PARTNER_SECRET_KEY: emulator.secretKey,
    REFERENCES: JSON.stringify(references),
  };
  const madeNow = () => emulator.world().organizations[0]?.orders.length ?? 0;
  const began = performance.now();
  for (let run = 0; run <= kills; run += 1) {
    const child = spawn(process.execPath, [worker, name, String(orders), join(folder, "queue")], {
      env: environment,
      stdio: ["ignore", "ignore", "inherit"],
    });
    const ended = once(child, "exit");
    if (run < kills) {
      while (madeNow() < (orders * (run + 1)) / (kills + 1)) await sleep(1_000);
      child.kill("SIGKILL");
    }
    await ended;
  }
  const seconds = (performance.now() - began) / 1_000;
  await sleep(2_500);
  const identifiers = (emulator.world().organizations[0]?.orders ?? []).map(({ customIdentifier }) => customIdentifier);
  const made = new Set(identifiers).size;
  const requests = emulator.requests.at(-1)?.id ?? 0;
  await emulator.close();
  rmSync(folder, { recursive: true });
  return { made, doubled: identifiers.length - made, lost: orders - made, requests, seconds };
}

/** Orders over an unreliable network, with a gateway that gives up and three kills: what each client makes of it. */
export async function run(): Promise<void> {
  prepare();
  const rows = [];
  for (const name of clientNames) {
    const { made, doubled, lost, requests, seconds } = await measure(name);
    rows.push([name, String(made), String(doubled), String(lost), String(requests), seconds.toFixed(0)]);
  }
  console.log(`\n${orders} orders, ${kills} kills, 8 % of the requests for an order with a fault`);
  printTable(["client", "made", "doubled", "lost", "requests", "seconds"], rows);
}
