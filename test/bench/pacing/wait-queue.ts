import { CancelScope } from "../../../src/http/cancel-scope.ts";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { endpointOf } from "../../support/endpoints.ts";
import { printTable } from "../table.ts";

const calls = 100_000;

const endpoint = endpointOf("orders.get");

/** A pacer with the specification's quota and an empty bucket: a token comes every 20 ms. */
function emptied() {
  const pacer = new Pacer(systemClock);
  const headers = new Headers({ "x-ratelimit-policy": '"default";q=3000;w=60', "x-ratelimit": '"default";r=0;t=1' });
  const report = pacer.observe(endpoint, pacer.takeAnyway(endpoint), headers);
  return { pacer, report };
}

/** Joins the queue; `over` removes all waiting calls. */
function join(pacer: Pacer, priority: "high" | "low", over: AbortSignal): Promise<void> {
  const waiting = pacer.acquire(endpoint, priority, new CancelScope(systemClock, over, undefined));
  return waiting.then((grant) => pacer.forget(grant));
}

/** Milliseconds until an urgent call gets its token behind 2,000 other calls. */
async function measureUrgent(): Promise<number> {
  const { pacer } = emptied();
  const over = new AbortController();
  const others = Array.from({ length: 2_000 }, () => join(pacer, "low", over.signal));
  await Promise.race(others);
  const began = performance.now();
  await join(pacer, "high", over.signal);
  const took = performance.now() - began;
  over.abort();
  await Promise.allSettled(others);
  return took;
}

/** The cost of a long queue: to join it, to wait in it, to leave it; and the delay of an urgent call. */
export async function measureWaitQueue(): Promise<void> {
  const urgent = await measureUrgent();
  const { pacer, report } = emptied();
  pacer.hold(endpoint, report, 60_000);

  const controllers = Array.from({ length: calls }, () => new AbortController());
  const scopes = controllers.map(({ signal }) => new CancelScope(systemClock, signal, undefined));
  globalThis.gc?.();
  const memory = process.memoryUsage().heapUsed;
  const began = performance.now();
  const waiting = scopes.map((scope) => pacer.acquire(endpoint, "low", scope));
  const joined = performance.now();
  globalThis.gc?.();
  const perCall = (process.memoryUsage().heapUsed - memory) / calls;
  const settled = Promise.allSettled(waiting);

  // With a reason of its own: the platform needs 6 µs to create one for each waiting call.
  const reason = new Error("no longer needed");
  const aborting = performance.now();
  for (const controller of controllers.slice(0, calls / 2)) controller.abort(reason);
  const aborted = performance.now();
  const left = pacer.rateLimits().policies.default?.waiting;
  for (const controller of controllers) controller.abort(reason);
  await settled;

  console.log("");
  printTable(
    ["100,000 waiting calls", "measured", "target"],
    [
      ["joining the queue, µs per call", (((joined - began) * 1000) / calls).toFixed(2), "< 5"],
      ["memory, bytes per call", globalThis.gc ? Math.round(perCall).toString() : "needs --expose-gc", "stated"],
      ["aborting half of them, ms in total", (aborted - aborting).toFixed(0), "at once"],
      ["left in the queue after that", String(left), String(calls / 2)],
      ["a high call among 2,000 low ones, ms", urgent.toFixed(0), "≤ 40: 2 tokens"],
    ],
  );
}
