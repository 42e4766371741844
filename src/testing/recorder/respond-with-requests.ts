import * as z from "zod/mini";
import { check } from "../../schemas/check.ts";
import type { RequestFilter, RequestLog } from "./logged-request.ts";
import { summaryOf } from "./summary.ts";

const root = "/_emulator/requests";

/** The filter's fields are checked by the log itself. */
const schema = () =>
  z.looseObject({
    status: z.optional(z.coerce.number()),
    limit: z._default(z.coerce.number().check(z.int(), z.gte(1)), 100),
    before: z._default(z.coerce.number(), Number.POSITIVE_INFINITY),
  });

interface ListQuery extends RequestFilter {
  readonly limit: number;
  readonly before: number;
}

function json(value: unknown, status = 200): Response {
  return Response.json(value, { status, headers: { "Cache-Control": "no-store" } });
}

const refused = (message: string): Response => json({ code: "invalid_input", message }, 400);

/** The summaries of the requests that match, newest first. `before` is the last id of the previous page. */
function list(requests: RequestLog, query: URLSearchParams): Response {
  const checked = check(schema, Object.fromEntries(query), []);
  if (!checked.ok)
    return refused(checked.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; "));
  const { limit, before, ...filter } = checked.value as ListQuery;
  try {
    const matching = requests.where(filter).filter(({ id }) => id < before);
    return json({ requests: matching.slice(-limit).reverse().map(summaryOf) });
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
  if (pathname === `${root}.har`) return json(requests.toHar());
  if (!pathname.startsWith(`${root}/`)) return undefined;
  const id = pathname.slice(root.length + 1);
  const entry = requests.get(Number(id));
  return entry === undefined ? json({ code: "not_found", message: `The log has no request ${id}` }, 404) : json(entry);
}
