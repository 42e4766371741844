import type { SentCallback } from "../../callbacks/callback.ts";
import type { Task } from "../../records/task.ts";
import type { SavedWorld } from "../saved-world.ts";
import type { World } from "../world.ts";
import type { Findings } from "./findings.ts";

type Worlds = readonly World[];

/** What a task is about, if the world does not have it. */
function missing(task: Task, worlds: Worlds, waiting: ReadonlySet<number>): string | undefined {
  switch (task.kind) {
    case "callback":
      return waiting.has(task.id) ? undefined : `the waiting callback ${task.id}`;
    case "reviewClaim":
      return worlds.some(({ claims }) => claims.get(task.claim)) ? undefined : task.claim;
    case "finishRender":
      return worlds.some(({ renders }) => renders.get(task.render)) ? undefined : task.render;
    default:
      return worlds.some(({ orders }) => orders.get(task.order)) ? undefined : task.order;
  }
}

function checkCallback(callback: SentCallback, worlds: Worlds, add: (field: string, message: string) => void): void {
  const { orderReference, storeReference, status, nextTryAt, tried, tries } = callback;
  const order = worlds.map(({ orders }) => orders.get(orderReference)).find((one) => one !== undefined);
  if (order === undefined) add("orderReference", `names ${orderReference}, which the world does not have`);
  else if (order.storeReference !== storeReference) {
    add("storeReference", `names ${storeReference}, but the store of the order is ${order.storeReference}`);
  }
  if ((status === "waiting") !== (nextTryAt !== null)) {
    add("nextTryAt", `must ${status === "waiting" ? "be a time" : "be null"} while the callback is ${status}`);
  }
  if (tried < tries.length) add("tried", `is ${tried}, but there are ${tries.length} tries`);
}

/** Checks the pending work and the callbacks: each task is about something, and each waiting callback has a task. */
export function checkPending({ tasks, callbacks }: SavedWorld, worlds: Worlds, findings: Findings): void {
  const waiting = new Set(callbacks.filter(({ status }) => status === "waiting").map(({ id }) => id));
  const planned = new Set(tasks.map(({ task }) => (task.kind === "callback" ? task.id : undefined)));
  for (const [position, { task }] of tasks.entries()) {
    const subject = missing(task, worlds, waiting);
    if (subject === undefined) continue;
    findings.add(["tasks", position], `the task ${task.kind} is about ${subject}, which the world does not have`);
  }
  const ids = new Set<number>();
  for (const [position, callback] of callbacks.entries()) {
    const { id } = callback;
    const add = (field: string, message: string) => findings.add(["callbacks", position, field], message);
    if (ids.has(id)) add("id", `${id} occurs more than once`);
    ids.add(id);
    checkCallback(callback, worlds, add);
    if (waiting.has(id) && !planned.has(id)) add("status", `the callback ${id} waits, but no task sends it`);
  }
}
