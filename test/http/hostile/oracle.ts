import { ApiError, ConnectionError, type PodPartner, PodPartnerError } from "../../../src/index.ts";
import type { Case, PlannedCall } from "./case.ts";
import { type HostileFetch, maxResponseSize } from "./hostile-fetch.ts";
import { changedBy, type Model } from "./model.ts";
import { operationOf, otherBody } from "./operations.ts";
import { cannotBeShown, shown, showsKey } from "./shown.ts";
import { mayCreateTwice } from "./stated-limits.ts";

/** A call, and its result when it has settled. */
export interface Outcome {
  readonly planned: PlannedCall;
  readonly number: number;
  readonly signal: AbortSignal;
  readonly began: number;
  ended: number | undefined;
  result: { readonly value: unknown } | { readonly error: unknown; readonly thrown?: boolean } | undefined;
}

/** What is open after a case. */
export interface LeftOpen {
  /** Timers of the client when the last call has settled. */
  readonly pending: number;
  /** Timers of the client after all others have run. */
  readonly later: number;
  /** Listeners on the signal of each call. */
  readonly listeners: readonly number[];
  /** Unhandled rejections. */
  readonly unhandled: readonly unknown[];
  /** Waits of the client that are not finite. */
  readonly absurd: readonly number[];
}

/** A case after its end. */
export interface FinishedCase {
  readonly plan: Case;
  readonly outcomes: readonly Outcome[];
  readonly model: Model;
  readonly hostile: HostileFetch;
  /** What the hooks and the logger received. */
  readonly heard: readonly unknown[];
  readonly left: LeftOpen;
  readonly partner: PodPartner;
}

/** Bytes that the client may have read when it finds that a response is too large. */
const readAhead = 2 * 16_384;
/** Milliseconds that a wait gives to its last request when no time remains. */
const least = 1;

const failed = ({ result }: Outcome): boolean => result !== undefined && "error" in result;
const errorOf = ({ result }: Outcome): unknown =>
  result !== undefined && "error" in result ? result.error : undefined;
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

/** Every call settles; its abort and its deadline end it. */
function* inTime({ outcomes, hostile }: FinishedCase): Generator<string> {
  for (const { planned, began, ended } of outcomes) {
    const { operation, abortAt, deadline } = planned;
    if (ended === undefined) {
      yield `${operation} does not settle`;
      continue;
    }
    const took = ended - began;
    if (abortAt !== undefined && took > abortAt) yield `${operation} settles after its abort`;
    // The deadline of a list holds for each page.
    const times = operation.startsWith("orders.list") ? hostile.requests + 1 : 1;
    if (deadline !== undefined && took > deadline * times + least) yield `${operation} settles after its deadline`;
  }
}

/** A call fails with a typed error, or with the abort's own reason. */
function* typed({ outcomes }: FinishedCase): Generator<string> {
  for (const outcome of outcomes.filter(failed)) {
    const { planned, signal, result } = outcome;
    const error = errorOf(outcome);
    if (result !== undefined && "thrown" in result) yield `${planned.operation} throws instead of rejecting`;
    if (error instanceof PodPartnerError || (signal.aborted && Object.is(error, signal.reason))) continue;
    if (operationOf(planned.operation).files && typeof Reflect.get(Object(error), "syscall") === "string") continue;
    yield `${planned.operation} fails with no typed error: ${nameOf(error)}`;
  }
}

/** How often the service has created what a call asks for. */
function createdBy({ model }: FinishedCase, { planned, number }: Outcome): number {
  const { creates, identifier } = operationOf(planned.operation);
  if (creates === "order") return model.orders.get(identifier?.(number) ?? "")?.length ?? 0;
  if (creates === "claim") return model.claimsOf(number + 1);
  return creates === "other" ? (model.others.get(otherBody(number)) ?? 0) : 0;
}

/** Whether a response may say that the service did what it did not do. */
const isForged = ({ moves }: Case): boolean =>
  moves.some(
    ({ status = 500, body, mutate, big }) => status < 300 || [body, mutate, big].some((part) => part !== undefined),
  );

/** Nothing is created twice, and an error reports what may have been created. */
function* once(played: FinishedCase): Generator<string> {
  const { outcomes, hostile, plan } = played;
  const forged = isForged(plan);
  const ensures = plan.calls.filter(({ operation }) => operation.startsWith("orders.ensure")).length;
  for (const outcome of outcomes) {
    const { operation } = outcome.planned;
    const { creates, once } = operationOf(operation);
    if (once && outcomes.length === 1 && hostile.requests > 1) yield `${operation} sends its stream twice`;
    if (creates === undefined || hostile.deceived) continue;
    const created = createdBy(played, outcome);
    if (created > 1 && !mayCreateTwice(plan)) yield `${operation} creates it twice`;
    if (!failed(outcome) && created === 0 && !forged) yield `${operation} gives data for what was never created`;
    const error = errorOf(outcome);
    if (created === 0 || creates === "other" || !(error instanceof PodPartnerError)) continue;
    // With several calls of `ensure`, another one may have created the order.
    if (error.identifiers === undefined && ensures < 2)
      yield `${operation} created it, and its ${error.name} has no identifiers`;
  }
}

/** Whether an error says that the service did not carry a request out. */
const refuses = (error: unknown): boolean =>
  (error instanceof ConnectionError && !error.sent) ||
  (error instanceof ApiError && error.status !== 408 && (error.status < 500 || error.status === 501));

/** A change that was made is not reported as refused, and one that was not made is not reported as made. */
function* truthful(played: FinishedCase): Generator<string> {
  const { outcomes, hostile, plan, model } = played;
  if (hostile.deceived || mayCreateTwice(plan)) return;
  for (const outcome of outcomes) {
    const { operation } = outcome.planned;
    const { changes } = operationOf(operation);
    if (changes === undefined || outcome.result === undefined) continue;
    const { made, isOpen } = model.changed(changedBy(outcome.number));
    if (made && refuses(errorOf(outcome))) yield `${operation} was carried out, and is reported as refused`;
    const done = made || (changes === "rest" && !isOpen);
    if (!failed(outcome) && !done && !isForged(plan)) yield `${operation} was not carried out, and is reported as done`;
  }
}

/** The secret key appears nowhere. */
function* silent({ outcomes, heard, partner, left }: FinishedCase): Generator<string> {
  for (const outcome of outcomes) {
    const error = errorOf(outcome);
    if (!(error instanceof PodPartnerError)) continue;
    if (showsKey(error)) yield `${outcome.planned.operation} shows the key in its ${error.name}`;
    if (shown(error).includes(cannotBeShown)) yield `${error.name} cannot be shown`;
  }
  if (showsKey(heard)) yield "a hook or the logger receives the key";
  if (showsKey([partner, partner.rateLimits])) yield "the client shows the key";
  if (showsKey(left.unhandled)) yield "an unhandled rejection shows the key";
}

/** Nothing stays open. */
function* closed({ outcomes, left, hostile }: FinishedCase): Generator<string> {
  const unread = outcomes.some(({ planned }) => operationOf(planned.operation).unread);
  if (left.pending > 0 && !unread) yield "timers remain after the last call";
  if (left.later > 0) yield "timers remain for ever";
  if (left.listeners.some((count) => count > 0)) yield "listeners remain on the signal";
  if (left.unhandled.length > 0) yield `a rejection is not handled: ${nameOf(left.unhandled[0])}`;
  if (left.absurd.length > 0) yield `a wait of ${left.absurd[0]} ms`;
  if (hostile.bodies.some(({ body }) => body.open)) yield "the body of a response stays open";
  if (hostile.bodies.some(({ body, bounded }) => bounded && body.delivered > maxResponseSize + readAhead))
    yield "a response is read beyond maxResponseSize";
}

/** Names and numbers from the wire harm neither the client's state nor the language. */
function* sound({ partner }: FinishedCase): Generator<string> {
  const { rateLimits } = partner;
  const prototype: unknown = Object.getPrototypeOf(rateLimits.policies);
  if (prototype !== null) yield "rateLimits.policies has another prototype";
  for (const [policy, limit] of Object.entries(rateLimits.policies)) {
    const numbers = Object.values(Object(limit)).filter((value) => typeof value === "number");
    if (!numbers.every(Number.isFinite)) yield `rateLimits has no number for ${policy}`;
  }
  if (Reflect.get({}, "x") !== undefined) yield "Object.prototype is polluted";
}

/** The one oracle: the promises that were broken in a case. The same fault gives the same text. */
export function brokenPromises(played: FinishedCase): readonly string[] {
  const checks = [inTime, typed, once, truthful, silent, closed, sound];
  return [...new Set(checks.flatMap((check) => [...check(played)]))];
}
