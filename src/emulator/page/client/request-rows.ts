import type { RequestSummary } from "../../recorder/request-json.ts";
import type { MarkView } from "../view.ts";
import { statusText } from "./request-outcome.ts";

/** What a row of the list shows: the requests of one call, oldest first, or something that happened beside them. */
export type ListRow =
  | { readonly id: number; readonly requests: readonly [RequestSummary, ...RequestSummary[]] }
  | { readonly id: number; readonly mark: MarkView };

/** Milliseconds after which an equal request is a call of its own: while the first has no result, and after its result. */
const longestPause = { retry: 60_000, read: 2_000 };

/** The requests that can belong to one call have the same key. Undefined for a request that stands alone. */
function keyOf({ call, method, path, subject }: RequestSummary): string | undefined {
  if (call === "orders.create" || call === "orders.lookup") return subject === null ? undefined : `order ${subject}`;
  if (method === "GET") return path;
  return subject === null ? undefined : `${method} ${path} ${subject}`;
}

/** Statuses after which a client sends the same again. */
const isTemporary = ({ status }: RequestSummary): boolean =>
  status === null || status >= 500 || [202, 404, 408, 409, 429].includes(status);

/** Whether a request has given its call a final result. A look-up that finds nothing has not. */
const isFinal = (summary: RequestSummary): boolean => summary.outcome === "responded" && !isTemporary(summary);

const isRead = ({ method, call }: RequestSummary): boolean => method === "GET" && call !== "orders.lookup";

/** Whether a request belongs to the one before it, which has the same key. Requests at the same time are different calls. */
function isRepeated(before: RequestSummary, next: RequestSummary): boolean {
  const end = before.duration === null ? Number.POSITIVE_INFINITY : before.start + before.duration;
  // The times are rounded to a millisecond.
  if (next.start + 1 < end) return false;
  // Reads are repeated to see a change. Everything else is repeated because it has no result yet.
  const mostPause = !isFinal(before) ? longestPause.retry : isRead(next) ? longestPause.read : Number.NEGATIVE_INFINITY;
  return next.start - end <= mostPause;
}

/** What the requests of a row have in common, in words. */
export const unityOf = ([first]: readonly [RequestSummary, ...RequestSummary[]]): string =>
  isRead(first) ? "equal requests" : "requests of one call";

/**
 * The rows of requests and marks, newest first. The requests of one call are one row, at the place of the latest: retries, look-ups after a
 * lost response, and equal reads such as polls. `requests` and `marks` are ordered newest first and oldest first.
 */
export function rowsOf(requests: readonly RequestSummary[], marks: readonly MarkView[]): readonly ListRow[] {
  const open = new Map<string, RequestSummary[]>();
  const groups = new Set<RequestSummary[]>();
  for (const summary of requests.toReversed()) {
    const key = keyOf(summary);
    const group = key === undefined ? undefined : open.get(key);
    const latest = group?.at(-1);
    if (group !== undefined && latest !== undefined && isRepeated(latest, summary)) {
      group.push(summary);
      // To its new place: after all others.
      groups.delete(group);
      groups.add(group);
      continue;
    }
    const started = [summary];
    groups.add(started);
    if (key !== undefined) open.set(key, started);
  }
  const rows: ListRow[] = [];
  let mark = 0;
  for (const group of groups) {
    const [first, ...others] = group;
    if (first === undefined) continue;
    const latest = group.at(-1) ?? first;
    for (let next = marks[mark]; next !== undefined && next.after < latest.id; next = marks[mark]) {
      rows.push({ id: -next.id, mark: next });
      mark += 1;
    }
    rows.push({ id: first.id, requests: [first, ...others] });
  }
  for (const left of marks.slice(mark)) rows.push({ id: -left.id, mark: left });
  return rows.reverse();
}

/** The most different results that a row names. */
const named = 4;

/** How the requests of a call ended: `lost, look-up 404, 200`; `12 × 200`. */
export function storyOf(requests: readonly RequestSummary[]): string {
  const words = requests.map(
    (summary) => `${summary.call === "orders.lookup" ? "look-up " : ""}${statusText(summary)}`,
  );
  const runs: { readonly word: string; times: number }[] = [];
  for (const word of words) {
    const latest = runs.at(-1);
    if (latest?.word === word) latest.times += 1;
    else runs.push({ word, times: 1 });
  }
  const texts = runs.map(({ word, times }) => (times === 1 ? word : `${times} × ${word}`));
  return texts.length <= named ? texts.join(", ") : `${texts[0]}, …, ${texts.slice(1 - named).join(", ")}`;
}

/**
 * How long a row took, in milliseconds: a call from its first request to the end of its last one; of equal requests the latest. Undefined
 * while it is open.
 */
export function spanOf(requests: readonly [RequestSummary, ...RequestSummary[]]): number | undefined {
  const latest = requests.at(-1);
  if (latest?.duration == null) return undefined;
  // Reads that each had a result, such as polls, are together not one slow call: that of the latest begins after the last result.
  const first = requests[requests.slice(0, -1).findLastIndex(isFinal) + 1] ?? latest;
  return latest.start - first.start + latest.duration;
}
