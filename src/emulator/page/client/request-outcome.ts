import type { RequestDetail, RequestSummary } from "../../recorder/request-json.ts";
import { span } from "./format.ts";
import type { Tone } from "./parts.tsx";

/** Milliseconds from which a request counts as slow. */
const slowFrom = 1000;

export const isOpen = ({ outcome }: RequestSummary): boolean => outcome === "open";
export const isSlow = ({ duration }: RequestSummary): boolean => duration !== null && duration >= slowFrom;
export const isRefused = ({ status }: RequestSummary): boolean => status !== null && status >= 400;
export const isError = (summary: RequestSummary): boolean =>
  summary.outcome === "dropped" || summary.outcome === "aborted" || isRefused(summary);

/** The status as text: a number, or what happened: the connection was lost before the response, or cut within it. */
export function statusText({ status, outcome }: RequestSummary): string {
  if (outcome === "dropped" || outcome === "aborted") return status === null ? "lost" : "cut";
  return status === null ? "open" : String(status);
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

/** The message of the error object in the response; undefined without one. */
export function messageOf({ response, status }: RequestDetail): string | undefined {
  if (status === null || status < 400 || response?.body?.text == null) return undefined;
  try {
    const body: unknown = JSON.parse(response.body.text);
    return typeof body === "object" && body !== null && "message" in body ? String(body.message) : undefined;
  } catch {
    return undefined;
  }
}

/** What the service did with a request. */
function workOf({ service, method }: RequestDetail): string {
  if (service === null) return "The service did not see the request";
  const took = span(service.ended - service.began);
  if (service.status >= 400) return `The service refused the request with ${service.status}`;
  return method === "GET"
    ? `The service responded with ${service.status} in ${took}`
    : `The service carried the request out in ${took} and responded with ${service.status}`;
}

/** What the client saw, as the end of the sentence. */
function endOf({ outcome, status, service, fault, duration, response }: RequestDetail): string {
  const by = fault === null ? "" : `the fault “${fault}” `;
  if (outcome === "open") return response === null ? "its response has not been sent" : "its body is not complete";
  if (outcome === "aborted") return `the client left after ${span(duration ?? 0)}`;
  if (outcome === "dropped" && status === null)
    return `${by || "the emulator "}broke the connection: the client cannot know`;
  if (outcome === "dropped") return `${by || "the emulator "}broke the connection within the body`;
  if (service === null) return `${by || "the emulator "}responded with ${status} in its place`;
  if (service.status !== status) return `${by || "the emulator "}responded with ${status} instead`;
  return fault === null ? "" : `${by}kept the response until ${span(duration ?? 0)}`;
}

/** One sentence: what the service did, and what the client saw. */
export function sentenceOf(detail: RequestDetail): string {
  const end = endOf(detail);
  return end === "" ? `${workOf(detail)}.` : `${workOf(detail)}; ${end}.`;
}

/** A shorter request needs no picture of its time, in milliseconds. */
const shortest = 5;

interface Phase {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly tone: Tone;
}

/** Where the time of a request went, in milliseconds since it arrived. Phases without time are left out. */
export function phasesOf({ service, responded, duration, fault }: RequestDetail): readonly Phase[] {
  const end = duration ?? responded ?? service?.ended ?? 0;
  const began = Math.min(service?.began ?? responded ?? end, end);
  const ended = Math.min(service?.ended ?? began, end);
  const headed = Math.max(ended, Math.min(responded ?? end, end));
  const held: Tone = fault === null ? "quiet" : "fault";
  const phases: readonly Phase[] = [
    { name: fault === null ? "waiting" : "held by the fault", from: 0, to: began, tone: held },
    { name: "the service", from: began, to: ended, tone: "good" },
    { name: fault === null ? "responding" : "held by the fault", from: ended, to: headed, tone: held },
    { name: "body", from: headed, to: end, tone: "busy" },
  ];
  return end < shortest ? [] : phases.filter(({ name, from, to }) => name === "the service" || to - from >= 1);
}
