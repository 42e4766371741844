import { attempt, textOf } from "../../util/foreign.ts";
import type { LoggedRequest } from "./logged-request.ts";
import type { RequestSummary } from "./request-json.ts";

/** The largest response that is read for its code, in bytes. */
const largest = 4096;

/** The code of the error object in the response (specification 2.2); null without an error object. */
function codeOf({ status = 0, response }: Pick<LoggedRequest, "status" | "response">): string | null {
  const body = response?.body;
  if (status < 400 || body === undefined || body.size > largest) return null;
  return (
    textOf(
      attempt(() => body.json()),
      "code",
    ) ?? null
  );
}

/** The fields of a request that a list shows, as JSON: without headers and bodies. A missing value is null. */
export function summaryOf(entry: LoggedRequest): RequestSummary {
  const { id, time, method, path, outcome } = entry;
  const { call = null, status = null, duration = null, tokens = null, fault = null } = entry;
  return { id, time, call, method, path, status, duration, tokens, fault, code: codeOf(entry), outcome };
}
