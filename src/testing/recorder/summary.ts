import type { LoggedRequest } from "./logged-request.ts";

/** The fields of a request that a list shows, as JSON: without headers and bodies. A missing value is null. */
export function summaryOf(entry: LoggedRequest): Readonly<Record<string, unknown>> {
  const { id, time, method, path, outcome } = entry;
  const { call = null, status = null, duration = null, tokens = null, fault = null } = entry;
  return { id, time, call, method, path, status, duration, tokens, fault, outcome };
}
