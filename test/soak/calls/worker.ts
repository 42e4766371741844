/** Makes all calls with one client, and counts what is open in its process while no call is in progress. */
import { getEventListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { type PartnerClock, PodPartner, PodPartnerError } from "../../../src/index.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { createRandom } from "../random.ts";
import { transportOf } from "../transport.ts";
import type { Census, Job, Report } from "./messages.ts";
import { callFor } from "./mix.ts";

/** Milliseconds after which the platform has closed its idle sockets, and every timeout has passed. */
const rest = 6_000;
/** The number of censuses after the first one. */
const stops = 4;
/** Calls before the first census: loaded and compiled code is not a leak. */
const warmUp = 10_000;

const counts = { calls: 0, succeeded: 0, failed: 0, aborted: 0, untyped: 0 };
const errors: Record<string, number> = Object.create(null);
const timers = new Set<object>();
/** The signals of single calls since the last census. */
const ownSignals: AbortSignal[] = [];
const began = performance.now();

/** The machine's clock, with a set of the waiting timers. */
const clock: PartnerClock = {
  now: systemClock.now,
  after: (ms, callback) => {
    const timer = {};
    timers.add(timer);
    const cancel = systemClock.after(ms, () => {
      timers.delete(timer);
      callback();
    });
    return () => {
      timers.delete(timer);
      cancel();
    };
  },
};

const send = (report: Report) => process.send?.(report);

async function takeCensus(shared: AbortSignal): Promise<void> {
  await sleep(rest);
  const signals = [shared, ...ownSignals.splice(0)];
  const listeners = signals.reduce((sum, signal) => sum + getEventListeners(signal, "abort").length, 0);
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.();
    await sleep(50);
  }
  const { heapUsed: heap, rss } = process.memoryUsage();
  const sockets = process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
  const seconds = (performance.now() - began) / 1_000;
  const census: Census = { ...counts, heap, rss, listeners, timers: timers.size, sockets, seconds };
  send({ census });
}

function count(error: unknown, reason: unknown): void {
  if (error === reason) {
    counts.aborted += 1;
    return;
  }
  counts.failed += 1;
  if (!(error instanceof PodPartnerError)) counts.untyped += 1;
  const name = error instanceof Error ? error.name : typeof error;
  errors[name] = (errors[name] ?? 0) + 1;
}

async function work({ baseUrl, calls, concurrency, seed, transport }: Job): Promise<void> {
  const random = createRandom(seed);
  const partner = new PodPartner({
    baseUrl,
    secretKey: "a-secret-key",
    clock,
    ...transportOf(transport),
    timeout: 1_000,
    // This service finishes before it responds.
    assumptions: { processingTime: 2_000 },
    retry: { baseDelay: 1, maxDelay: 50 },
  });
  const shared = new AbortController();
  const reason = new Error("the customer has left");

  const callOnce = async (number: number): Promise<void> => {
    const make = callFor(random());
    const own = random() < 0.05 ? new AbortController() : undefined;
    if (own !== undefined) ownSignals.push(own.signal);
    const timer = own && setTimeout(() => own.abort(reason), random() * 20);
    const deadline = random() < 0.02 ? { deadline: 1 + random() * 200 } : {};
    try {
      await make(partner, { signal: own?.signal ?? shared.signal, ...deadline }, number);
      counts.succeeded += 1;
    } catch (error) {
      count(error, own?.signal.reason);
    }
    clearTimeout(timer);
    counts.calls += 1;
  };
  let next = 0;
  const callUntil = (last: number) =>
    Promise.all(
      Array.from({ length: concurrency }, async () => {
        while (next < last) await callOnce(next++);
      }),
    );

  await callUntil(Math.min(warmUp, calls));
  await takeCensus(shared.signal);
  for (let stop = 1; stop <= stops; stop++) {
    await callUntil(Math.round((calls * stop) / stops));
    await takeCensus(shared.signal);
  }
  send({ errors });
}

process.on("unhandledRejection", (error) => {
  console.error("unhandled:", error);
  process.exit(1);
});
process.once("message", async (job: Job) => {
  await work(job);
  process.disconnect();
});
