import type { RequestSummary } from "../../../recorder/request-json.ts";
import { capacity, requests, skipped } from "./store.ts";

/** Replaces all requests. */
export function replaceRequests(all: readonly RequestSummary[]): void {
  requests.value = all.slice(0, capacity);
  skipped.value = 0;
}

/** Adds requests, or replaces those that have changed since. `changed` is ordered oldest first. */
export function mergeRequests(changed: readonly RequestSummary[]): void {
  const byId = new Map(changed.map((summary) => [summary.id, summary]));
  const kept = requests.value.map((summary) => {
    const update = byId.get(summary.id);
    byId.delete(summary.id);
    return update ?? summary;
  });
  requests.value = [...[...byId.values()].reverse(), ...kept].slice(0, capacity);
}
