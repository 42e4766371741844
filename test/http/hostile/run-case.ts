import { getEventListeners } from "node:events";
import { PodPartner, type RequestOptions } from "../../../src/index.ts";
import type { Case, PlannedCall, ReasonName } from "./case.ts";
import { baseUrl, HostileFetch, maxResponseSize } from "./hostile-fetch.ts";
import { loadLaterFiles } from "./later-files.ts";
import { Model } from "./model.ts";
import { operationOf } from "./operations.ts";
import { brokenPromises, type FinishedCase, type Outcome } from "./oracle.ts";
import { secretKey } from "./secret.ts";
import { createVirtualTime, settleTasks, type VirtualTime } from "./virtual-clock.ts";

await loadLaterFiles();

/** Milliseconds of virtual time within which every call settles. */
const bound = 2 * 3_600_000;

const reasons: Readonly<Record<ReasonName, () => unknown>> = {
  object: () => ({ why: "the customer has left" }),
  null: () => null,
  text: () => "enough",
  error: () => new Error("enough"),
  default: () => undefined,
};

/** Unhandled rejections of the present case. */
const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));

/** Hooks and a logger that record what they receive, and then fail. */
function witness(how: Case["hooks"]) {
  const heard: unknown[] = [];
  const hear = (...values: unknown[]): unknown => {
    heard.push(values);
    if (how === "throw") throw new Error("a hook fails");
    return how === "reject" ? Promise.reject(new Error("a hook fails")) : undefined;
  };
  const hooks = { onRequest: hear, onResponse: hear, onRetry: hear, onPause: hear, onInvalidResponse: hear };
  return { heard, hooks, logger: { debug: hear, info: hear, warn: hear, error: hear } };
}

function optionsOf({ timeout, deadline, retries, maxRetryAfter }: PlannedCall, signal: AbortSignal): RequestOptions {
  const retry = { ...(retries !== undefined && { retries }), ...(maxRetryAfter !== undefined && { maxRetryAfter }) };
  return { signal, retry, ...(timeout !== undefined && { timeout }), ...(deadline !== undefined && { deadline }) };
}

/** Begins a call. Its outcome is filled in when the call settles. */
function begin(
  connect: () => PodPartner,
  partner: PodPartner,
  planned: PlannedCall,
  number: number,
  time: VirtualTime,
) {
  const controller = new AbortController();
  const { signal } = controller;
  const outcome: Outcome = { planned, number, signal, began: time.now(), ended: undefined, result: undefined };
  const abort = () => controller.abort(reasons[planned.reason ?? "object"]());
  if (planned.abortAt === 0) abort();
  else if (planned.abortAt !== undefined) time.world.after(planned.abortAt, abort);
  const settle = (result: Outcome["result"]) => {
    outcome.ended = time.now();
    outcome.result = result;
  };
  try {
    operationOf(planned.operation)
      .run({ partner, connect, options: optionsOf(planned, signal), number })
      .then(
        (value) => settle({ value }),
        (error: unknown) => settle({ error }),
      );
  } catch (error) {
    settle({ error, thrown: true });
  }
  return outcome;
}

/** Advances time until all calls have settled, or until `bound` is over. */
async function settled(time: VirtualTime, outcomes: readonly Outcome[]): Promise<void> {
  const until = Math.max(...outcomes.map(({ began }) => began)) + bound;
  for (let idle = 0; idle < 20; ) {
    await settleTasks();
    if (outcomes.every(({ ended }) => ended !== undefined)) return;
    idle = time.jump(until) ? 0 : idle + 1;
  }
}

/** Plays a case. Returns one line for each promise that was broken. */
export async function runCase(plan: Case): Promise<readonly string[]> {
  unhandled.length = 0;
  const time = createVirtualTime();
  const skew = plan.skew ?? 0;
  const model = new Model(() => time.now() + skew);
  const hostile = new HostileFetch(plan.moves, model, time, skew);
  const { heard, hooks, logger } = witness(plan.hooks);
  const options = { baseUrl, secretKey, clock: time.client, fetch: hostile.fetch, hooks, logger, maxResponseSize };
  const connect = () => new PodPartner({ ...options, pacing: plan.pacing, responses: plan.responses });
  const partner = connect();
  const outcomes: Outcome[] = [];
  for (const [number, planned] of plan.calls.entries()) {
    outcomes.push(begin(connect, partner, planned, number, time));
    if (!plan.together) await settled(time, outcomes);
  }
  await settled(time, outcomes);
  await settleTasks();
  const pending = time.pending;
  // Late responses arrive now, and unread downloads reach their timeout.
  for (const until = time.now() + bound; time.jump(until); ) await settleTasks();
  await settleTasks();
  const listeners = outcomes.map(({ signal }) => getEventListeners(signal, "abort").length);
  const left = { pending, later: time.pending, listeners, unhandled: [...unhandled], absurd: time.absurd };
  const played: FinishedCase = { plan, outcomes, model, hostile, heard, left, partner };
  return brokenPromises(played);
}
