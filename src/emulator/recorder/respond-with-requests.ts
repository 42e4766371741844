import { controlRoot, refusal, uncachedJson } from "../core/control-plane.ts";
import type { RequestFilter, RequestLog } from "./logged-request.ts";
import { summaryOf } from "./summary.ts";

const root = `${controlRoot}/requests`;

const refused = (message: string): Response => refusal(400, "invalid_input", message);

/** The summaries of the requests that match, newest first. `before` is the last id of the previous page. */
function list(requests: RequestLog, query: URLSearchParams): Response {
  const { limit = "100", before = "Infinity", status, ...filter } = Object.fromEntries(query);
  if (!(Number.isInteger(Number(limit)) && Number(limit) >= 1)) return refused("limit: must be a whole number from 1");
  if (Number.isNaN(Number(before))) return refused("before: must be the id of a request");
  try {
    // The log checks the filter.
    const exact = status === undefined ? filter : { ...filter, status: Number(status) };
    const matching = requests.where(exact as RequestFilter).filter(({ id }) => id < Number(before));
    return uncachedJson({ requests: matching.slice(-Number(limit)).reverse().map(summaryOf) });
  } catch (error) {
    if (error instanceof TypeError) return refused(error.message);
    throw error;
  }
}

/**
 * Responds to a GET of the log over HTTP. Returns undefined for another path.
 *
 * - `/_emulator/requests?on=&method=&path=&status=&fault=&outcome=&limit=&before=`: summaries, newest first, 100 by default
 * - `/_emulator/requests/{id}`: one request in full
 * - `/_emulator/requests.har`: the log as HAR 1.2
 */
export function respondWithRequests(requests: RequestLog, { pathname, searchParams }: URL): Response | undefined {
  if (pathname === root) return list(requests, searchParams);
  if (pathname === `${root}.har`) return uncachedJson(requests.toHar());
  if (!pathname.startsWith(`${root}/`)) return undefined;
  const id = pathname.slice(root.length + 1);
  const entry = requests.get(Number(id));
  if (entry === undefined) return refusal(404, "not_found", `The log has no request ${id}`);
  return uncachedJson(entry);
}
