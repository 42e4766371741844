import { PodPartner } from "../../../src/client.ts";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { endpointOf } from "../../support/endpoints.ts";
import { median, printTable } from "../table.ts";

const headers = (quota: number, window: number, remaining: number) => ({
  "x-ratelimit-policy": `"default";q=${quota};w=${window}`,
  "x-ratelimit": `"default";r=${remaining};t=${remaining > 0 ? 0 : Math.ceil(window / quota)}`,
});
const soon = headers(3_000, 60, 0);
const in17s = headers(5_000, 86_400, 0);

/** Microseconds of the processor for each of so many steps. */
async function perStep(steps: number, run: () => unknown): Promise<number> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / steps;
}

/** To queue a call behind others, until the program has the thread again. */
async function queued(calls: number, reported: Record<string, string>, isSignalled: boolean): Promise<number> {
  const fetch = async () => Response.json({ message: "ok" }, { headers: reported });
  const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey: "a-secret-key", fetch });
  await partner.auth.validate();
  const over = new AbortController();
  const options = isSignalled ? { signal: over.signal } : {};
  const waiting: Promise<unknown>[] = [];
  const cost = await perStep(calls, () => {
    for (let call = 0; call < calls; call += 1) waiting.push(partner.auth.validate(options).catch(() => undefined));
  });
  over.abort();
  if (isSignalled) await Promise.all(waiting);
  return cost;
}

/** To learn from a response. Each response is followed by the next request. */
async function answered(inFlight: number): Promise<number> {
  const pacer = new Pacer(systemClock);
  const endpoint = endpointOf("orders.get");
  const report = new Headers(headers(10_000_000, 60, 9_000_000));
  const permits = Array.from({ length: inFlight }, () => pacer.takeAnyway(endpoint));
  const responses = 20_000;
  return perStep(responses, () => {
    for (let response = 0; response < responses; response += 1) {
      const at = (response * 7_919) % inFlight;
      const permit = permits[at];
      permits[at] = pacer.takeAnyway(endpoint);
      if (permit !== undefined) pacer.observe(endpoint, permit, report);
    }
  });
}

async function medianOf(measure: () => Promise<number>): Promise<string> {
  const rounds: number[] = [];
  for (let round = 0; round < 3; round += 1) rounds.push(await measure());
  return median(rounds).toFixed(1);
}

/** What a call costs behind so many others, and a response beside so many requests in flight. */
export async function run(): Promise<void> {
  await queued(5_000, soon, true);
  await answered(100);
  const counts = [1_000, 12_000, 40_000];
  const kinds = [
    ["queued", soon, false],
    ["queued with one signal", soon, true],
    ["queued, the next token 17 s away", in17s, false],
    ["the same with one signal", in17s, true],
  ] as const;
  const rows: string[][] = [];
  for (const [title, reported, isSignalled] of kinds) {
    const row: string[] = [title];
    for (const calls of counts) row.push(await medianOf(() => queued(calls, reported, isSignalled)));
    rows.push(row);
  }
  printTable(["µs of the processor for each call", ...counts.map(String)], rows);
  const beside = [1_000, 20_000];
  const row = ["in the pacer"];
  for (const inFlight of beside) row.push(await medianOf(() => answered(inFlight)));
  console.log("");
  printTable(["µs for each response, with so many in flight", ...beside.map(String)], [row]);
  // The calls without a signal still wait.
  process.exit();
}
