import { counted, duration, type Finding, failed, ok, skipped, warning } from "./finding.ts";
import type { Probe } from "./probe.ts";

/** Policies that a header names: `"default";r=2999;t=0`. */
const namesIn = (header: string): readonly string[] =>
  [...header.matchAll(/(?:^|,)\s*"?([\w-]+)"?\s*;/g)].map(([, name = ""]) => name);

/** Checks how many requests remain, by the rate-limit headers of the first response. */
export function checkRateLimits({ response, rateLimits }: Probe): Finding {
  if (response === undefined) return skipped("Not checked: no response came");
  const names = namesIn(response.header("x-ratelimit") ?? "").filter((name) => name in rateLimits.policies);
  if (names.length === 0) {
    if (response.status === 401) return skipped("Not checked: only responses to a valid key have them");
    return warning("The response has no X-RateLimit header, so the SDK uses the specification's limits.", {
      action: "Check whether a gateway or a proxy removes headers.",
      details: { policies: {} },
    });
  }
  const policies = names.flatMap((name) => {
    const limit = rateLimits.policies[name];
    return limit === undefined ? [] : [{ name, ...limit, remaining: Math.floor(limit.remaining) }];
  });
  const details = {
    policies: Object.fromEntries(
      policies.map(({ name, quota, window, remaining }) => [name, { quota, windowMs: window, remaining }]),
    ),
  };
  const texts = policies.map(
    ({ name, quota, window, remaining }) =>
      `${name}: ${remaining.toLocaleString("en")} of ${counted(quota, "request")} remain (refilled in ${duration(window)})`,
  );
  const message = texts.join("; ");
  const action = "Other programs of the organization use the same limit: see docs/rate-limits.md.";
  if (policies.some(({ remaining }) => remaining < 1)) return failed(`${message}.`, { action, details });
  if (policies.some(({ remaining, quota }) => remaining < quota / 10))
    return warning(`${message}.`, { action, details });
  return ok(message, { details });
}
