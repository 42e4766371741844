/** A process with one emulator on a port. It does one task for each message. */
import type { RunningEmulator } from "pod-partner/testing";
import { collectGarbage } from "../../support/garbage.ts";

/** The message from the parent process: a number of requests to record in this process, or undefined to read the CPU time. */
export interface ServerJob {
  readonly record?: number;
}

/** The first message to the parent process. */
export interface Started {
  readonly path: string;
  readonly origin: string;
  readonly secretKey: string;
}

/** Limits that no benchmark reaches. */
const unlimited = { quota: 1_000_000_000, window: 1000 };

/** Megabytes that are alive after a garbage collection. */
function alive(): number {
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

/** Sends requests in this process, with a body of `size` bytes, and reports the memory at each tenth. */
async function record(emulator: RunningEmulator, requests: number): Promise<readonly number[]> {
  const headers = { "X-Service-Secret-Key": emulator.secretKey };
  const marks: number[] = [alive()];
  for (let sent = 1; sent <= requests; sent += 1) {
    await (await emulator.fetch(`${emulator.baseUrl}/orders`, { headers })).text();
    if (sent % Math.ceil(requests / 10) === 0) marks.push(alive());
  }
  return marks;
}

// The emulator is measured as users install it: built.
const built: string = new URL("../../../dist/testing.js", import.meta.url).href;
const { startEmulator } = (await import(built)) as typeof import("pod-partner/testing");

const emulator = await startEmulator({ seed: { orders: 100 }, limits: { default: unlimited } });
const { origin, pathname } = new URL(emulator.baseUrl);
const reference = emulator.world().organizations[0]?.orders[0]?.reference;

process.once("disconnect", () => process.exit());
process.on("message", async (job: ServerJob) => {
  if (job.record !== undefined) process.send?.(await record(emulator, job.record));
  else process.send?.(process.cpuUsage());
});
process.send?.({
  path: `${pathname}/orders/${reference}`,
  origin,
  secretKey: emulator.secretKey,
} satisfies Started);
