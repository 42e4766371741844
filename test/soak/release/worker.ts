/** Downloads files and aborts calls with one client, then counts what is open in its process. */
import { getEventListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { type Download, PodPartner } from "../../../src/index.ts";
import { createRandom } from "../random.ts";
import { transportOf } from "../transport.ts";
import type { Census, Job } from "./messages.ts";

/** Milliseconds after which both transports have closed their idle sockets. */
const rest = 6_000;
const concurrency = 32;

const countOf = (kind: string) => process.getActiveResourcesInfo().filter((name) => name === kind).length;

/** The ways to end a download. */
const ends: readonly ((download: Download) => Promise<unknown>)[] = [
  (download) => download.bytes(),
  (download) => download.cancel(),
  async (download) => {
    for await (const chunk of download.stream()) return chunk.length;
  },
];

async function work({ origin, transport, each }: Job): Promise<Census> {
  const random = createRandom(20_261_122);
  const partner = new PodPartner({ baseUrl: `${origin}/v2`, secretKey: "a-secret-key", ...transportOf(transport) });
  const shared = new AbortController();
  const timers = countOf("Timeout");
  const counts = { downloads: 0, aborted: 0, others: 0 };
  let listeners = 0;

  async function download(number: number): Promise<void> {
    const file = await partner.renders.media(`Render_${"0".repeat(26)}`, { signal: shared.signal });
    await ends[number % ends.length]?.(file);
    counts.downloads += 1;
  }

  async function abort(number: number): Promise<void> {
    const controller = new AbortController();
    const call = partner.orders.get(`Order_${"0".repeat(25)}${number % 10}`, { signal: controller.signal });
    const timer = setTimeout(() => controller.abort("left"), random() * 8);
    try {
      await call;
    } catch (reason) {
      if (reason === "left") counts.aborted += 1;
      else counts.others += 1;
    }
    clearTimeout(timer);
    listeners += getEventListeners(controller.signal, "abort").length;
  }

  let next = 0;
  const lane = async () => {
    for (let number = next++; number < 2 * each; number = next++) {
      await (number % 2 === 0 ? download(number / 2) : abort((number - 1) / 2));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  await sleep(rest);
  listeners += getEventListeners(shared.signal, "abort").length;
  return { ...counts, listeners, timers: countOf("Timeout") - timers, sockets: countOf("TCPSocketWrap") };
}

process.once("message", async (job: Job) => {
  process.send?.(await work(job));
  process.disconnect();
});
