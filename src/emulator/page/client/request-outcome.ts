import type { RequestDetail, RequestSummary } from "../../recorder/request-json.ts";
import { span } from "./format.ts";
import type { Tone } from "./parts.tsx";

/** Milliseconds from which a request counts as slow. */
const slowFrom = 1000;

export const isOpen = ({ outcome }: RequestSummary): boolean => outcome === "open";
export const isSlow = ({ duration }: RequestSummary): boolean => duration !== null && duration >= slowFrom;
const isRefused = ({ status }: RequestSummary): boolean => status !== null && status >= 400;
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
function workOf({ service, method, status, fault, duration }: RequestDetail): string {
  if (service === null)
    return fault === "gateway" && status !== null
      ? "The service may still be working"
      : "The service did not see the request";
  const took = span(service.ended - service.began);
  const late = duration !== null && service.ended > duration + 1 ? ", after the client had its response" : "";
  if (service.status >= 400) return `The service refused the request with ${service.status}${late}`;
  return method === "GET"
    ? `The service responded with ${service.status} in ${took}${late}`
    : `The service carried the request out in ${took} and responded with ${service.status}${late}`;
}

/** What a fault did to a response that has the status of the service. */
const effects: Readonly<Record<string, string>> = {
  body: "replaced the body",
  headers: "replaced headers",
  trickle: "sent the body byte by byte",
  stall: "holds the rest of the body",
  failRender: "lets the render fail",
};

/** What the client saw, as the end of the sentence. */
function endOf(detail: RequestDetail): string {
  const { outcome, status, service, fault, duration, response, method } = detail;
  const by = fault === null ? "the emulator" : `the fault “${fault}”`;
  const effect = effects[fault ?? ""];
  if (outcome === "open") {
    if (fault !== null && effect !== undefined) return `${by} ${effect}`;
    return response === null ? "its response has not been sent" : "its body is not complete";
  }
  if (outcome === "aborted") return `the client left before the response was complete, within ${span(duration ?? 0)}`;
  if (outcome === "dropped" && status === null)
    return `${by} broke the connection: the client ${method === "GET" ? "got no response" : "cannot know"}`;
  if (outcome === "dropped") return `${by} broke the connection within the body`;
  if (service === null) return `${by} responded with ${status} in its place`;
  if (service.status !== status) return `${by} responded with ${status} instead`;
  if (fault === null) return "";
  return effect === undefined ? `${by} kept the response until ${span(duration ?? 0)}` : `${by} ${effect}`;
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
  const isLate = service !== null && service.began >= end;
  return end < shortest || isLate
    ? []
    : phases.filter(({ name, from, to }) => name === "the service" || to - from >= 1);
}
