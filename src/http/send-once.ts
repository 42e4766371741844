import { ApiError, RateLimitError } from "../errors/api.ts";
import { dateOf } from "../util/clock.ts";
import type { ResponseHead } from "../util/response-head.ts";
import type { Call } from "./call.ts";
import { exchange } from "./exchange.ts";
import { didNothing, isRateLimited } from "./outcome.ts";
import { doubtfulDistance } from "./pacing/bucket.ts";
import { type Permit, TokenTooFar } from "./pacing/queue.ts";
import type { Wait } from "./pacing/wait.ts";
import { snapshot } from "./redact.ts";
import type { EncodedRequest } from "./request.ts";
import type { RetryOptions } from "./request-options.ts";
import { type Arrival, isFileReady, parseRetryAfter, toApiError } from "./response.ts";

/*
 * "Send once", one of the two primitives of a call (the other one is "look until known", look-up.ts): a request waits for its tokens, is
 * sent, and its response is a success or a typed error.
 */

/**
 * Takes the tokens that a request needs, or waits in the queue for them.
 *
 * @param urgent Whether it comes before all others, so that a creation is sent before its look-up is too old.
 */
export async function acquire(call: Call, urgent: boolean): Promise<Permit> {
  return takeTokens(call) ?? (await queueForTokens(call, urgent));
}

/** Takes the tokens that a request needs, if they are available now. */
const takeTokens = ({ core, endpoint }: Call): Permit | undefined =>
  core.pacer.paced ? core.pacer.tryAcquire(endpoint) : core.pacer.takeAnyway(endpoint);

function queueForTokens(call: Call, urgent = call.isUrgent): Promise<Permit> {
  const { core, id: callId, endpoint, name, options, retry, scope } = call;
  return call.step("queue", async (trace) => {
    trace.outcome = trace.policy = "default";
    const report = ({ reason, policy, ms }: Wait) => {
      trace.outcome = trace.policy = policy;
      trace.reason = reason;
      core.observer.observe("onPause", { callId, endpoint: name, reason, policy, length: ms });
    };
    try {
      // A call that has sent a request before comes before the others of its priority.
      const retried = call.attempts.count > 0;
      // Its look-up, or the call that waits for it, has already waited with the priority of the call.
      const priority = urgent ? "high" : (options.priority ?? "normal");
      const { maxRetryAfter } = retry;
      return await core.pacer.acquire(endpoint, priority, scope, {
        retried,
        urgent,
        maxRetryAfter,
        report,
      });
    } catch (error) {
      // The caller's own reason for an abort can be a proxy that throws.
      if (scope.ended(error) || !(error instanceof TokenTooFar)) throw error;
      throw tooFarError(name, error, retry.maxRetryAfter);
    }
  });
}

/** The error of a call whose next token is further away than it waits. Its request was not sent. */
function tooFarError(endpoint: string, { policy, ms }: TokenTooFar, maxRetryAfter: number): RateLimitError {
  const distance = `comes in ${Math.ceil(ms / 1_000)} s, and \`retry.maxRetryAfter\` allows ${maxRetryAfter / 1_000} s`;
  return new RateLimitError({
    endpoint,
    response: { status: 429, headers: {}, body: undefined },
    code: "rate_limited",
    message: `the next token of the policy ${JSON.stringify(policy)} ${distance}`,
    retryAfter: Math.ceil(ms),
    unsent: true,
  });
}

/** What a request must have before it is sent. */
export interface Ready {
  /** Its tokens. Default: it takes them. */
  readonly permit?: Permit | undefined;
  /** Throws if it may no longer be sent. */
  readonly check?: (() => void) | undefined;
}

/** Sends a request once, when it has its tokens. */
export function sendOnce(call: Call, request: EncodedRequest, { permit, check }: Ready): Promise<Arrival> {
  // With tokens at hand the request is sent in this turn: the caller's code may block the thread right after it.
  const taken = permit ?? takeTokens(call);
  return taken === undefined
    ? queueForTokens(call).then((queued) => sendWith(call, request, queued, check))
    : sendWith(call, request, taken, check);
}

function sendWith(call: Call, request: EncodedRequest, permit: Permit, check: Ready["check"]): Promise<Arrival> {
  const { core, id: callId, endpoint, name, timeout, scope, attempts } = call;
  const { pacer, observer } = core;
  const attempt = attempts.count + 1;
  const send = async (trace: { status?: number | undefined; outcome?: string | undefined }) => {
    let head: ResponseHead | undefined;
    let refusal: PendingRefusal | undefined;
    let isSent = false;
    try {
      // A slow hook can make the look-up too old. It is not called again after the next look-up.
      if (attempts.announce()) observer.observe("onRequest", { callId, endpoint: name, attempt });
      // The hook may have ended the call: nothing was sent then.
      scope.check();
      // The hook may have taken long. Nothing is awaited between this check and the request.
      check?.();
      isSent = true;
      const { at: began } = attempts.begin();
      const limit = endpoint.repeat === "recoverable" ? scope.timeoutBeforeLook(timeout) : timeout;
      const arrival = await exchange(call, request, limit, (response) => {
        head = response;
        const { status, headers } = response;
        trace.status = status;
        attempts.responded(status);
        if (status === 429) refusal = pauseFor(call, response);
        else pacer.observe(endpoint, permit, headers, { status });
        observer.observe("onResponse", { callId, endpoint: name, attempt, status, took: core.clock.now() - began });
      });
      const { response, text } = arrival;
      if (!isAccepted(call, response)) throw errorOf(call, response, text, request.url);
      core.retryBudget.earn();
      trace.outcome = String(response.status);
      return arrival;
    } catch (caught) {
      const isRead = caught instanceof ApiError;
      const isLost = !isRead && !scope.ended(caught);
      const error = isLost && head && headDecides(call, head) ? errorOf(call, head, "", request.url) : caught;
      if (!isSent) pacer.giveBack(permit);
      else if (refusal !== undefined) afterRefusal(call, permit, error, refusal, isRead);
      else afterFailure(call, permit, error, head !== undefined);
      if (error instanceof ApiError) trace.outcome = String(error.status);
      throw error;
    }
  };
  return call.step("attempt", send, request.url);
}

/** Records what an attempt's error says about its tokens and the outcome. */
function afterFailure(call: Call, permit: Permit, error: unknown, isAnswered: boolean): void {
  // The reason of an abort can be any error.
  const isIdle = !call.scope.ended(error) && didNothing(error);
  if (!isAnswered) call.core.pacer.forget(permit, isIdle);
  if (isIdle) recordNothing(call, error);
}

/** The service did not carry out the request. */
function recordNothing({ attempts, core }: Call, error: unknown): void {
  attempts.didNothing();
  // A refusal, too, shows that the service is up.
  if (error instanceof ApiError) core.retryBudget.earn();
}

/** A 429 whose body may still be arriving. */
interface PendingRefusal {
  readonly head: ResponseHead;
  /** The clock's time at which its wait ends. */
  readonly until: number;
  /** Ends the pause of all calls until its body has shown its reason. */
  readonly resume: () => void;
}

/** Pauses all calls when the head of a 429 has arrived. */
function pauseFor({ core, retry, attempts }: Call, head: ResponseHead): PendingRefusal {
  // Without a minimum, a `Retry-After` of 0 would use up all attempts at once.
  const ms = Math.max(parseRetryAfter(head.headers, dateOf(core.clock)) ?? 0, backoff(attempts.count, retry));
  return { head, until: core.clock.now() + ms, resume: core.pacer.pause(Math.min(ms, doubtfulDistance)) };
}

/**
 * Holds the policies of a request that was refused with a 429: all calls that draw from them wait, even if this call fails.
 *
 * @param isRead Whether its body has been read. The reason of an unread one may be the rendertokens of the week, with a `Retry-After` of days.
 */
function afterRefusal(call: Call, permit: Permit, error: unknown, refusal: PendingRefusal, isRead: boolean): void {
  const { core, endpoint, attempts } = call;
  const { pacer, clock } = core;
  const { status, headers } = refusal.head;
  refusal.resume();
  if (isRead && !isRateLimited(error)) pacer.observe(endpoint, permit, headers, { status });
  else {
    const ms = Math.min(Math.max(0, refusal.until - clock.now()), isRead ? Number.POSITIVE_INFINITY : doubtfulDistance);
    const code = isRateLimited(error) ? error.code : undefined;
    const sure = isRead && (code === undefined || code === "rate_limited");
    const policies = pacer.refuse(endpoint, permit, headers, { ms, sure });
    attempts.refused({ error, ms, held: policies.length > 0 });
  }
  recordNothing(call, error);
}

/** Whether a response is a success. A 304 is not a redirect: it is valid after a conditional request, and decoding reports it after any other. */
const isAccepted = ({ endpoint }: Call, response: ResponseHead): boolean =>
  endpoint.response.kind === "binary" ? isFileReady(response) || response.status === 304 : response.ok;

/**
 * Whether the head of a response says what to do next, also when its body is lost: the file is not ready, there were too many requests, or the
 * service or a gateway failed. Each can have a `Retry-After`.
 */
const headDecides = (call: Call, head: ResponseHead): boolean =>
  !isAccepted(call, head) && ([202, 408, 429].includes(head.status) || head.status >= 500);

/** The typed error of a response that is not a success. */
const errorOf = ({ core, name }: Call, { status, headers }: ResponseHead, text: string, url: string): ApiError =>
  toApiError({
    response: snapshot(status, headers, text, core.redact),
    headers,
    endpoint: name,
    url,
    now: dateOf(core.clock),
  });

/**
 * A random wait between half of a bound and the whole, so that many clients do not retry at the same time, and a call always outlasts a short
 * outage. The bound doubles with each attempt.
 */
export const backoff = (attempt: number, { baseDelay, maxDelay }: RetryOptions): number =>
  (0.5 + Math.random() / 2) * Math.min(maxDelay, baseDelay * 2 ** (attempt - 1));
