import pRetry from "p-retry";
import { ApiError, RateLimitError } from "../errors/api.ts";
import { PodPartnerError } from "../errors/base.ts";
import { StorageError } from "../errors/storage.ts";
import { dateOf } from "../util/clock.ts";
import { attempt } from "../util/foreign.ts";
import type { Call } from "./call.ts";
import { exchange } from "./exchange.ts";
import { didNothing, isOverload, isRateLimited, maySendAgain, retryAfterOf, searchTime } from "./outcome.ts";
import type { RateLimitReport } from "./pacing/headers.ts";
import { TokenTooFar } from "./pacing/pacer.ts";
import type { Permit } from "./pacing/queue.ts";
import type { Wait } from "./pacing/wait.ts";
import { snapshot } from "./redact.ts";
import type { EncodedRequest } from "./request.ts";
import type { RetryOptions } from "./request-options.ts";
import { type Arrival, isFileReady, toApiError } from "./response.ts";

/*
 * How a request is sent: it waits for its tokens, is sent once, and, after an error, may be sent again after a wait.
 */

/**
 * Sends a request until a response can be read, or an error follows that no retry may follow.
 *
 * @param own The SDK sends the request for its own use: its last turn does not depend on the retry budget.
 */
export async function sendWithRetries<T>(
  call: Call,
  request: EncodedRequest,
  read: (arrival: Arrival) => T,
  own = false,
): Promise<T> {
  // p-retry wraps a thrown value that is not an error, but a caller may abort with any value.
  let thrown: unknown;
  const send = async () => {
    try {
      return read(await sendOnce(call, request));
    } catch (error) {
      thrown = error;
      throw new Error("the attempt failed");
    }
  };
  let turn = 0;
  const waitIfAllowed = async () => {
    turn += 1;
    if (turn > call.retry.retries || !mayRetry(call, request, thrown)) return false;
    if (!didNothing(thrown)) noteLost(call, thrown);
    try {
      turn = await waitForTurn(call, thrown, turn, own);
      return true;
    } catch (error) {
      thrown = error;
      return false;
    }
  };
  try {
    const loop = attempt(() => performance.now()) === undefined ? repeat : pRetry;
    return await loop(send, { retries: call.retry.retries, minTimeout: 0, shouldRetry: waitIfAllowed });
  } catch {
    throw thrown;
  }
}

/** The loop of attempts without p-retry, which reads `performance.now()`: a program may have removed it. */
async function repeat<T>(
  send: () => Promise<T>,
  { shouldRetry }: { readonly shouldRetry: () => Promise<boolean> },
): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!(await shouldRetry())) throw error;
    }
  }
}

/** Whether a request that failed with this error may be sent again. */
export function mayRetry({ endpoint, retry, scope }: Call, { body }: EncodedRequest, error: unknown): boolean {
  return (
    !scope.ended(error) &&
    (typeof body !== "object" || body.replayable) &&
    maySendAgain(error, endpoint) &&
    (retryAfterOf(error) ?? 0) <= retry.maxRetryAfter
  );
}

/** Records until when the service may still work on a request whose response was just lost, and that is sent again. */
function noteLost(call: Call, error: unknown): void {
  const { clock, processingTime } = call.core;
  const now = clock.now();
  const until = now + searchTime(error, now - call.sentAt, processingTime);
  call.lostUntil = Math.max(call.lostUntil ?? until, until);
}

/**
 * Waits for the next attempt, and returns the number of its turn. In an outage the calls of a client share their attempts: a turn for which
 * the retry budget is empty passes, and the call waits for another backoff.
 *
 * @param own The last turn does not depend on the budget.
 * @throws the error when no turn is left.
 */
export async function waitForTurn(call: Call, error: unknown, first: number, own = false): Promise<number> {
  const { retries } = call.retry;
  for (let turn = first; ; turn++) {
    await waitToRetry(call, error, turn, turn > first);
    if (isPaced(call, error) || call.core.retryBudget.spend() || (own && turn === retries)) return turn;
    if (turn === retries) throw error;
  }
}

/** Whether the rate limit of the service or of a gateway paces a retry, so that it needs no budget. */
const isPaced = ({ core }: Call, error: unknown): boolean =>
  isRateLimited(error) || (isOverload(error) && core.paced && core.pacer.slowed);

/** Waits before the next attempt: for the response's `Retry-After`, unless the call has waited for it, or else for a backoff. */
export async function waitToRetry(call: Call, error: unknown, attempt: number, waited = false): Promise<void> {
  const { core, id: callId, retry, scope, name: endpoint } = call;
  const retryAfter = waited ? undefined : retryAfterOf(error);
  const refusal = call.refusal?.error === error ? call.refusal : undefined;
  const delay = refusal?.ms ?? retryAfter ?? backoff(attempt, retry);
  const { name, status, code } = error instanceof PodPartnerError ? error : { name: "Error" };
  const why = refusal === undefined ? "the wait before the next attempt" : "the rate limit's Retry-After";
  await call.step(retryAfter === undefined ? "backoff" : "retry-after", async (trace) => {
    trace.outcome = name;
    scope.allow(delay, why, error);
    core.observer.observe("onRetry", { callId, endpoint, attempt, delay, error: name, status, code });
    // A paced call waits in the queue of the held bucket. A creation in doubt waits here, and is looked up after the wait.
    if (!(refusal?.held && core.paced && !call.inDoubt)) await scope.sleep(delay, why, error);
  });
}

/**
 * A random wait between half of a bound and the whole, so that many clients do not retry at the same time, and a call always outlasts a short
 * outage. The bound doubles with each attempt.
 */
const backoff = (attempt: number, { baseDelay, maxDelay }: RetryOptions): number =>
  (0.5 + Math.random() / 2) * Math.min(maxDelay, baseDelay * 2 ** (attempt - 1));

/**
 * Takes the tokens that a request needs, or waits in the queue for them.
 *
 * @param first Whether it comes before all others: a creation that was looked up is sent before the look-up is old.
 */
export async function acquire(call: Call, first: boolean): Promise<Permit> {
  return takeTokens(call) ?? (await queueForTokens(call, first));
}

/** Takes the tokens that a request needs, if they are available now. */
const takeTokens = ({ core, endpoint }: Call): Permit | undefined =>
  core.paced ? core.pacer.tryAcquire(endpoint) : core.pacer.takeAnyway(endpoint);

function queueForTokens(call: Call, first = call.isFirst): Promise<Permit> {
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
      const again = call.attempts > 0;
      // Its look-up, or what waits for it with its tokens, has waited by the priority of the call.
      const priority = first ? "high" : (options.priority ?? "normal");
      const { maxRetryAfter } = retry;
      return await core.pacer.acquire(endpoint, priority, scope, {
        again,
        first,
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

/** The error of a call whose next token is further away than it waits, whichever header reported it. Its request was not sent. */
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

/** A request that has its tokens. */
export interface Ready {
  readonly permit: Permit;
  /** Throws if it may not be sent any more. */
  readonly check: () => void;
}

/** Sends a request once, when it has its tokens. */
export function sendOnce(call: Call, request: EncodedRequest, ready?: Ready): Promise<Arrival> {
  // With tokens at hand the request is sent in this turn: the caller's code may block the thread right after it.
  const permit = ready?.permit ?? takeTokens(call);
  return permit === undefined
    ? queueForTokens(call).then((permit) => sendWith(call, request, permit))
    : sendWith(call, request, permit, ready?.check);
}

function sendWith(call: Call, request: EncodedRequest, permit: Permit, check?: Ready["check"]): Promise<Arrival> {
  const { core, id: callId, endpoint, name, timeout, scope } = call;
  const { pacer, observer, redact } = core;
  call.attempts += 1;
  call.status = undefined;
  const attempt = call.attempts;
  const send = async (trace: { status?: number | undefined; outcome?: string | undefined }) => {
    const began = core.clock.now();
    let report: RateLimitReport | undefined;
    const inDoubtBefore = call.inDoubt;
    let begun = false;
    try {
      // A hook that takes longer than a look-up stays true is not called once more after the next look-up.
      if (!call.announced) observer.observe("onRequest", { callId, endpoint: name, attempt });
      call.announced = true;
      // The hook may have ended the call: nothing was sent then.
      scope.check();
      // Between these checks and the request there is no wait; the hook may have taken long.
      check?.();
      if (!call.mayBegin()) throw new StorageError({ message: "The lock in the storage ended before its work began." });
      begun = true;
      call.announced = false;
      call.inDoubt = true;
      call.mayHaveHappened += 1;
      call.sentAt = began;
      call.firstSent ??= { at: began, date: dateOf(core.clock) };
      const limit = endpoint.repeat === "recoverable" ? scope.timeoutBeforeLook(timeout) : timeout;
      const arrival = await exchange(call, request, limit, ({ status, headers }) => {
        trace.status = call.status = status;
        report = pacer.observe(endpoint, permit, headers, { status, redact });
        observer.observe("onResponse", { callId, endpoint: name, attempt, status, took: core.clock.now() - began });
      });
      assertAccepted(call, arrival, request.url);
      core.retryBudget.earn();
      trace.outcome = String(arrival.response.status);
      return arrival;
    } catch (error) {
      // The reason of an abort can be any error.
      const idle = !scope.ended(error) && didNothing(error);
      if (!begun) {
        pacer.giveBack(permit);
        call.attempts -= 1;
      }
      if (begun && report === undefined) pacer.forget(permit, idle);
      if (isRateLimited(error)) holdPolicies(call, error, report ?? new Map());
      // A refusal, too, shows that the service is up.
      if (idle && error instanceof ApiError) core.retryBudget.earn();
      if (idle) {
        call.inDoubt = inDoubtBefore;
        call.mayHaveHappened -= 1;
      }
      if (error instanceof ApiError) trace.outcome = String(error.status);
      throw error;
    }
  };
  return call.step("attempt", send, request.url);
}

/** Throws the typed error of a response that is not a success. */
function assertAccepted({ core, endpoint, name }: Call, { response, text }: Arrival, url: string): void {
  const { status } = response;
  // A 304 is not a redirect: it is valid after a conditional request, and decoding reports it after any other.
  const accepted = endpoint.response.kind === "binary" ? isFileReady(response) || status === 304 : response.ok;
  if (accepted) return;
  throw toApiError({
    response: snapshot(status, response.headers, text, core.redact),
    headers: response.headers,
    endpoint: name,
    url,
    now: dateOf(core.clock),
  });
}

/** The service refused a request for its rate limit: all calls that draw from the same bucket wait, also if this call fails. */
function holdPolicies(call: Call, error: RateLimitError, report: RateLimitReport): void {
  const { core, endpoint, retry, attempts } = call;
  // Without a minimum, a `Retry-After` of 0 would use up all attempts at once.
  const ms = Math.max(error.retryAfter ?? 0, backoff(attempts, retry));
  const sure = error.code === undefined || error.code === "rate_limited";
  const policies = core.pacer.hold(endpoint, report, ms, sure);
  call.refusal = { error, ms, held: policies.length > 0 };
}
