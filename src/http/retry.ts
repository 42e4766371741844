import pRetry from "p-retry";
import { PodPartnerError } from "../errors/base.ts";
import { attempt } from "../util/foreign.ts";
import type { Call } from "./call.ts";
import { didNothing, isOverload, isRateLimited, maySendAgain, retryAfterOf } from "./outcome.ts";
import type { EncodedRequest } from "./request.ts";
import type { Arrival, ResponseUse } from "./response.ts";
import { backoff, sendOnce } from "./send-once.ts";

/*
 * The loop of attempts, shared by reads and creations, and the waits between attempts.
 */

/**
 * Makes attempts until one succeeds. Most calls succeed at once and need no loop.
 *
 * @param work Makes one attempt.
 * @param prepareNext Called after a failed attempt, with the number of the next retry. Waits, and returns how many retries are used by then. An
 *   error that it throws ends the call.
 */
export async function makeAttempts<T>(
  work: () => Promise<T>,
  prepareNext: (error: unknown, retry: number) => Promise<number>,
): Promise<T> {
  // p-retry wraps a thrown value that is not an error, but a caller may abort with any value.
  let thrown: unknown;
  try {
    return await work();
  } catch (error) {
    thrown = error;
  }
  let retries = 0;
  const makeOne = async (number: number) => {
    try {
      if (number > 1) return await work();
    } catch (error) {
      thrown = error;
    }
    throw new Error("the attempt failed");
  };
  const shouldRetry = async () => {
    try {
      retries = await prepareNext(thrown, retries + 1);
      return true;
    } catch (error) {
      thrown = error;
      return false;
    }
  };
  try {
    const loop = attempt(() => performance.now()) === undefined ? repeat : pRetry;
    // `prepareNext` limits the retries: some failures use none.
    return await loop(makeOne, { retries: Number.POSITIVE_INFINITY, minTimeout: 0, shouldRetry });
  } catch {
    throw thrown;
  }
}

/** The loop without p-retry, which reads `performance.now()`: a program may have removed it. */
async function repeat<T>(
  work: (number: number) => Promise<T>,
  { shouldRetry }: { readonly shouldRetry: () => Promise<boolean> },
): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await work(number);
    } catch (error) {
      if (!(await shouldRetry())) throw error;
    }
  }
}

/** Sends a request until its response can be read, or until it fails with an error that is not retried. */
export function sendWithRetries<T>(
  call: Call,
  request: EncodedRequest,
  read: (arrival: Arrival) => T,
  { internal = false, check }: Pick<ResponseUse, "internal" | "check"> = {},
): Promise<T> {
  const send = () => sendOnce(call, request, { check }).then(read);
  return makeAttempts(send, (error, number) => {
    if (!mayRetry(call, request, error, number)) throw error;
    if (!didNothing(error)) call.attempts.lost(error);
    return waitForRetry(call, error, number, internal);
  });
}

/** Whether a request that failed with this error may be sent again, as the retry with this number. */
export function mayRetry(
  { endpoint, retry, scope }: Call,
  { body }: EncodedRequest,
  error: unknown,
  number: number,
): boolean {
  return (
    number <= retry.retries &&
    !scope.ended(error) &&
    (typeof body !== "object" || body.replayable) &&
    maySendAgain(error, endpoint) &&
    (retryAfterOf(error) ?? 0) <= retry.maxRetryAfter
  );
}

/**
 * Waits for the next retry, and returns its number. In an outage the calls of a client share a retry budget: while it is empty, a retry is
 * skipped, and the call waits for another backoff.
 *
 * @param internal The last retry does not depend on the budget.
 * @throws the error when no retry is left.
 */
export async function waitForRetry(call: Call, error: unknown, next: number, internal = false): Promise<number> {
  const { retries } = call.retry;
  for (let number = next; ; number++) {
    await waitToRetry(call, error, number, number > next);
    if (isPaced(call, error) || call.core.retryBudget.spend() || (internal && number === retries)) return number;
    if (number === retries) throw error;
  }
}

/** Don't charge the retry budget for what the rate limit of the service or of a gateway paces already. */
const isPaced = ({ core }: Call, error: unknown): boolean =>
  isRateLimited(error) || (isOverload(error) && core.pacer.paced && core.pacer.slowed);

/**
 * Waits for the response's `Retry-After`, unless the call has already waited for it, and at least for a backoff: a `Retry-After` of 0 would
 * use up all attempts at once, and one of a second before an outage of ten seconds ends.
 */
export async function waitToRetry(call: Call, error: unknown, number: number, waited = false): Promise<void> {
  const { core, id: callId, retry, scope, name: endpoint, attempts } = call;
  const retryAfter = waited ? undefined : retryAfterOf(error);
  const refusal = attempts.refusalOf(error);
  const delay = refusal?.ms ?? Math.max(retryAfter ?? 0, backoff(number, retry));
  const { name, status, code } = error instanceof PodPartnerError ? error : { name: "Error" };
  const why = refusal === undefined ? "the wait before the next attempt" : "the rate limit's Retry-After";
  await call.step(retryAfter === undefined ? "backoff" : "retry-after", async (trace) => {
    trace.outcome = name;
    scope.allow(delay, why, error);
    core.observer.observe("onRetry", { callId, endpoint, attempt: number, delay, error: name, status, code });
    // Paced calls wait in the pacer. A creation in doubt waits here, because it is looked up again before it is resent.
    if (!(refusal?.held && core.pacer.paced && !attempts.inDoubt)) await scope.sleep(delay, why, error);
  });
}
