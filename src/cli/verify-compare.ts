import type { Difference, LoggedRequest } from "pod-partner/testing";

export interface VerifyFinding {
  readonly kind: Difference["kind"] | "unfinished" | "failed" | "hammered" | "unread" | "leaked" | "callback";
  readonly text: string;
}

/** The milliseconds by which a request may come before the end of `Retry-After`: clocks and networks differ. */
const tolerance = 250;

/** Whether a program sent many more requests than without a fault, or did not wait as it was told to. */
export function hammering(requests: readonly LoggedRequest[], expected: number): readonly VerifyFinding[] {
  // Look-ups after a restart are many, and right. A loop without a pause sends thousands.
  const most = 10 * expected + 100;
  const findings: VerifyFinding[] = [];
  if (requests.length > most) {
    findings.push({ kind: "hammered", text: `${requests.length} requests, ${expected} without a fault` });
  }
  const pauses = new Map<string, { readonly from: number; readonly until: number }>();
  let early = 0;
  for (const { call = "", time, status, response, duration = 0 } of requests) {
    const { from, until } = pauses.get(call) ?? { from: 0, until: 0 };
    // What was sent before the 429 arrived could not know.
    if (time > from + tolerance && time < until - tolerance) early += 1;
    const seconds = Number(response?.headers["retry-after"]);
    const end = time + duration;
    if (status === 429 && seconds > 0) {
      pauses.set(call, { from: time < until ? from : end, until: Math.max(until, end + seconds * 1_000) });
    }
  }
  if (early > 0) findings.push({ kind: "hammered", text: `${early} requests before the time of Retry-After` });
  return findings;
}

/** What the emulator records instead of a key. */
const redacted = "[redacted]";

/** Whether the key is anywhere but in its header. */
export function leaks(requests: readonly LoggedRequest[]): readonly VerifyFinding[] {
  const where = requests.find(({ path, request }) =>
    [path, request.body?.text].some((text) => text?.includes(redacted)),
  );
  return where === undefined
    ? []
    : [{ kind: "leaked", text: `the key is in the URL or body of ${where.method} ${where.call ?? "a request"}` }];
}

/** Whether the log has lost the earliest requests, so that the run cannot be judged. */
export function unread(requests: readonly LoggedRequest[]): readonly VerifyFinding[] {
  const sent = requests.at(-1)?.id ?? 0;
  return sent > requests.length
    ? [{ kind: "unread", text: `${sent} requests are more than verify can read: give it less work` }]
    : [];
}
