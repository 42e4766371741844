import { CancelScope } from "../../../src/http/call/cancel-scope.ts";
import { Pacer } from "../../../src/http/pacing/pacer.ts";
import { endpoints } from "../../../src/resources/endpoints.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { printTable } from "../table.ts";

const calls = 100_000;

const endpoint = (() => {
  const found = endpoints.find(({ call }) => call === "orders.get");
  if (found === undefined) throw new Error("No endpoint is called orders.get");
  return found;
})();

/** A pacer of the specification's quota whose bucket is empty: a token comes every 20 ms. */
function emptied() {
  const pacer = new Pacer(systemClock);
  const headers = new Headers({ "x-ratelimit-policy": '"default";q=3000;w=60', "x-ratelimit": '"default";r=0;t=1' });
  const report = pacer.observe(endpoint, pacer.takeAnyway(endpoint), headers);
  return { pacer, report };
}

/** Joins the line; `over` takes all that still wait out of it. */
function join(pacer: Pacer, priority: "high" | "low", over: AbortSignal): Promise<void> {
  const waiting = pacer.acquire(endpoint, priority, new CancelScope(systemClock, over, undefined));
  return waiting.then((grant) => pacer.forget(grant));
}

/** Milliseconds until an urgent call is through that comes when 2,000 others wait. */
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

/** What a long line costs: joining it, standing in it, leaving it; and how soon an urgent call is through. */
export async function measureLine(): Promise<void> {
  const urgent = await measureUrgent();
  const { pacer, report } = emptied();
  pacer.hold(endpoint, report, 60_000);

  const controllers = Array.from({ length: calls }, () => new AbortController());
  const lifelines = controllers.map(({ signal }) => new CancelScope(systemClock, signal, undefined));
  globalThis.gc?.();
  const memory = process.memoryUsage().heapUsed;
  const began = performance.now();
  const waiting = lifelines.map((scope) => pacer.acquire(endpoint, "low", scope));
  const joined = performance.now();
  globalThis.gc?.();
  const perCall = (process.memoryUsage().heapUsed - memory) / calls;
  const settled = Promise.allSettled(waiting);

  // With a reason of its own: the platform takes 6 µs to make one, whoever waits.
  const reason = new Error("not wanted any more");
  const aborting = performance.now();
  for (const controller of controllers.slice(0, calls / 2)) controller.abort(reason);
  const aborted = performance.now();
  const left = pacer.forecast.snapshot().policies.default?.waiting;
  for (const controller of controllers) controller.abort(reason);
  await settled;

  console.log("");
  printTable(
    ["100,000 calls that wait", "measured", "wanted"],
    [
      ["joining the line, µs a call", (((joined - began) * 1000) / calls).toFixed(2), "< 5"],
      ["memory, bytes a call", globalThis.gc ? Math.round(perCall).toString() : "needs --expose-gc", "stated"],
      ["aborting half of them, ms in all", (aborted - aborting).toFixed(0), "at once"],
      ["left in the line then", String(left), String(calls / 2)],
      ["a high call among 2,000 low ones, ms", urgent.toFixed(0), "≤ 40: 2 tokens"],
    ],
  );
}
