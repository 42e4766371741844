/** A process that does one task with one client, and reports the memory that it took. */
import { readFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { collectGarbage } from "../../support/garbage.ts";
import { bytes } from "./bytes.ts";
import { type ClientName, clients } from "./clients.ts";

/** The message from the parent process. */
export interface Job {
  readonly task: "iterate" | "download" | "upload" | "uploadOnce";
  /** Items, or bytes. */
  readonly size: number;
  /** Where a download is saved, or the file to upload. */
  readonly path: string;
  /** The parts of the task after which the live heap is reported. Its garbage collections change the peak. */
  readonly marks: readonly number[];
}

/** Megabytes. */
export interface Memory {
  /** The resident memory of the process at the start. */
  readonly before: number;
  /** The live heap after a garbage collection, at each of the marks. */
  readonly alive: readonly number[];
  /** The peak of the resident memory. */
  readonly peak: number;
  /** Seconds. */
  readonly took: number;
}

const [, , name, origin] = process.argv as [string, string, ClientName, string];
const client = await clients[name](origin);

/**
 * Measured during the work: some objects are released by a finalizer after one garbage collection, and collected by a later one.
 * The second collection shows what the first one released outside the heap.
 */
async function alive(): Promise<number> {
  for (let time = 0; time < 3; time += 1) {
    await setImmediate();
    collectGarbage();
    collectGarbage();
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

/** `maxRSS` starts at the value of the parent process; Linux's own figure does not. */
function peak(): number {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS / 1e3;
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1.024e-3;
}

async function perform({ task, size, path }: Job, progress: (done: number) => void): Promise<void> {
  if (task === "iterate") {
    let seen = 0;
    await client.iterate(() => {
      seen += 1;
      progress(seen);
    });
  } else if (task === "download") {
    await client.download(path, progress);
  } else if (task === "uploadOnce") {
    await client.uploadOnce(path);
  } else {
    const pieces = bytes(size);
    let sent = 0;
    const source = new ReadableStream<Uint8Array>({
      pull(controller) {
        const { done, value } = pieces.next();
        if (done) return controller.close();
        sent += value.byteLength;
        progress(sent);
        controller.enqueue(value);
      },
    });
    await client.upload(source);
  }
}

process.on("message", async (job: Job) => {
  const before = process.memoryUsage.rss() / 1e6;
  const began = performance.now();
  const measured: Promise<number>[] = [];
  await perform(job, (done) => {
    const mark = job.marks[measured.length];
    if (mark !== undefined && done >= mark * job.size) measured.push(alive());
  });
  const took = (performance.now() - began) / 1e3;
  process.send?.({ before, alive: await Promise.all(measured), peak: peak(), took } satisfies Memory);
});
process.send?.("ready");
