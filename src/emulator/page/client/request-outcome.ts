import type { RequestSummary } from "../../recorder/request-json.ts";
import type { Tone } from "./parts.tsx";

/** Milliseconds from which a request counts as slow. */
const slowFrom = 1000;

export const isOpen = ({ outcome }: RequestSummary): boolean => outcome === "open";
export const isSlow = ({ duration }: RequestSummary): boolean => duration !== null && duration >= slowFrom;
export const isError = ({ outcome, status }: RequestSummary): boolean =>
  outcome === "dropped" || outcome === "aborted" || (status !== null && status >= 400);

/** The status as text: a number, or what happened without one. */
export function statusText({ status, outcome }: RequestSummary): string {
  if (status !== null) return String(status);
  return outcome === "open" ? "open" : "lost";
}

export function toneOf({ status, outcome }: RequestSummary): Tone {
  if (outcome === "dropped" || outcome === "aborted") return "bad";
  if (status === null) return "busy";
  if (status >= 500) return "bad";
  if (status >= 400) return "warn";
  return status === 202 || status === 304 ? "quiet" : "good";
}

interface Reason {
  readonly text: string;
  readonly tone: Tone;
}

/** Why a request was slow or failed, where the list can say it: a fault, an empty bucket, or a file that is not ready. */
export function reasonOf({ fault, status, tokens, code, outcome }: RequestSummary): Reason | null {
  if (fault !== null) return { text: `fault: ${fault}`, tone: "fault" };
  if (outcome === "aborted") return { text: "the client left", tone: "bad" };
  const empty = Object.entries(tokens ?? {}).find(([, left]) => left < 1)?.[0];
  if (code === "rate_limited" && empty !== undefined) return { text: `${empty} is empty`, tone: "warn" };
  if (code === "rendertoken_limit_exceeded") return { text: "no rendertokens left", tone: "warn" };
  if (code !== null) return { text: code, tone: code === "not_found" ? "quiet" : "warn" };
  return status === 202 ? { text: "not ready yet", tone: "quiet" } : null;
}
