import { calls, requests } from "../live/store.ts";

/** The most calls that are offered as buttons. The rest is in a list. */
const offered = 5;

/** The calls that the integration makes most, then those that matter most. */
export function likelyTargets(): readonly string[] {
  const seen = new Map<string, number>();
  for (const { call } of requests.value) if (call !== null) seen.set(call, (seen.get(call) ?? 0) + 1);
  const used = [...seen].sort((one, other) => other[1] - one[1]).map(([name]) => name);
  const likely = [...new Set(["orders.create", ...used, "orders.get", "renders.create", "claims.createItemIssues"])];
  return likely.filter((call) => calls.value.includes(call)).slice(0, offered);
}
