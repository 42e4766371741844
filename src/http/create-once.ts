import { NotFoundError } from "../errors/api.ts";
import { PodPartnerError } from "../errors/base.ts";
import { DeadlineError } from "../errors/connection.ts";
import { OutcomeUnknownError } from "../errors/orders.ts";
import { type Moment, momentOf } from "../util/clock.ts";
import type { Call, Found } from "./call.ts";
import { longSearch, refusesContent, retryAfterOf, searchTime, verdictOf } from "./outcome.ts";
import type { Permit } from "./pacing/queue.ts";
import type { EncodedRequest } from "./request.ts";
import type { RequestOptions } from "./request-options.ts";
import { acquire, mayRetry, sendOnce, waitForTurn, waitToRetry } from "./retry.ts";

/*
 * How something is created at most once (law 2): send it once; when the response is lost, look it up until its outcome is known; send it
 * again only if it certainly does not exist.
 */

/** What the caller is told while look-ups cannot decide. */
interface Doubt {
  /** Whether the caller can repeat the same call without harm while the outcome is unknown. */
  readonly repeatable: boolean;
  /** What identifies the creation, and how the caller finds out. */
  readonly identifiers: Readonly<Record<string, unknown>>;
  readonly how: string;
}

/** How a creation is found again when its response was lost. */
export interface Recovery<Data> extends Doubt {
  /**
   * Looks up the creation; undefined when it does not exist. An error means that the look-up could not decide.
   *
   * @param sent When the first attempt was sent, by the client's clock.
   */
  readonly look: (options: RequestOptions, sent: Moment) => Promise<Found<Data> | undefined>;
  /** Whether the latest look-up has shown that the creation does not exist and cannot appear later. */
  readonly ruledOut?: () => boolean;
}

/** The result of a creation, and whether a look-up found it. */
export interface Created<Data> extends Found<Data> {
  readonly recovered: boolean;
}

/** A look-up that is older than this, in milliseconds, is repeated before the creation is sent again. */
const oldestLookUp = 1_000;

/** Milliseconds before each look-up; after these the waits double, up to `longestWait`. */
const waits = [0, 500, 1_500, 2_000];
const longestWait = 8_000;

/**
 * Sends a creation at most once. Without a `recovery`, no look-up can decide, and a lost response ends the call.
 *
 * @throws `OutcomeUnknownError` when look-ups cannot decide.
 */
export async function createOnce<Data>(
  call: Call<never, Data>,
  request: EncodedRequest,
  recovery?: Recovery<Data>,
): Promise<Created<Data>> {
  const { scope, retry } = call;
  call.identifiers = recovery?.identifiers;
  let sentAgain = false;
  let permit: Permit | undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      const arrival = await sendOnce(call, request, permit);
      // The SDK itself uses the data of a creation that it can look up.
      return { ...call.read(arrival, recovery && "throw"), recovered: false };
    } catch (error) {
      const last = attempt > retry.retries;
      if (!call.inDoubt) {
        if (last || !mayRetry(call, request, error)) throw error;
        attempt = await waitForTurn(call, error, attempt);
        continue;
      }
      if (scope.ended(error) && !(error instanceof DeadlineError)) throw error;
      if (recovery === undefined || last || !maySendAfterLookUp(call, error)) {
        return conclude(call, error, recovery, sentAgain);
      }
      const next = await orUnknown(call, recovery, () => findOrAcquire(call, error, recovery, attempt));
      if (next.found !== undefined) return next.found;
      permit = next.permit;
      sentAgain = true;
    }
  }
}

/** After a lost response: looks the creation up, waits, and takes the tokens for another request, unless a look-up finds it. */
async function findOrAcquire<Data>(
  call: Call<never, Data>,
  error: unknown,
  recovery: Recovery<Data>,
  attempt: number,
): Promise<{ readonly found?: Created<Data>; readonly permit?: Permit }> {
  const made = await lookAfter(call, error, recovery);
  if (made !== undefined) return { found: made };
  await waitToRetry(call, error, attempt);
  const late = isOutdated(call) ? await lookOnce(call, lookFor(call, recovery)) : undefined;
  if (late !== undefined) return { found: late };
  const permit = await acquire(call);
  if (!isOutdated(call)) return { permit };
  // The queue was long, too. The tokens are returned: in a small bucket the look-up needs the same token.
  call.core.pacer.forget(permit, true);
  const later = await lookOnce(call, lookFor(call, recovery));
  return later === undefined ? { permit: await acquire(call) } : { found: later };
}

/** Whether a creation in doubt may be sent again, if look-ups do not find it. */
function maySendAfterLookUp({ retry, scope }: Call, error: unknown): boolean {
  if (scope.ended(error) || (retryAfterOf(error) ?? 0) > retry.maxRetryAfter) return false;
  const verdict = verdictOf(error, true);
  return verdict === "lost" || verdict === "idle";
}

/** Decides what the error of the last attempt means while the outcome is in doubt. */
async function conclude<Data>(
  call: Call<never, Data>,
  error: unknown,
  recovery: Recovery<Data> | undefined,
  sentAgain: boolean,
): Promise<Created<Data>> {
  if (call.scope.ended(error)) throw unknown(call, error, recovery);
  const verdict = verdictOf(error, recovery !== undefined);
  // The service itself responded to the only attempt: the error says what happened.
  if (verdict === "other" && !sentAgain) throw error;
  if (recovery !== undefined && verdict !== "other") {
    const found = await orUnknown(call, recovery, () => lookAfter(call, error, recovery));
    if (found !== undefined) return found;
  }
  if (verdict !== "refused" || !(refusesContent(error) || recovery?.ruledOut?.())) throw unknown(call, error, recovery);
  call.inDoubt = false;
  throw error;
}

/** Runs `work` while the outcome is in doubt: a failure becomes `OutcomeUnknownError`, except the caller's own abort. */
async function orUnknown<T>(call: Call, recovery: Doubt, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw call.scope.ended(error) && !(error instanceof DeadlineError) ? error : unknown(call, error, recovery);
  }
}

function unknown({ name }: Call, cause: unknown, recovery: Doubt | undefined): OutcomeUnknownError {
  return new OutcomeUnknownError({
    endpoint: name,
    how: recovery?.how ?? "The SDK cannot look it up: check whether it exists before you send it again.",
    identifiers: recovery?.identifiers ?? {},
    isRetryable: recovery?.repeatable ?? false,
    cause,
  });
}

/** After a failure: until when, by the clock, the service may still carry out the creation; undefined when it certainly does not. */
export function doubtfulUntil({ inDoubt, core, sentAt }: Call): number | undefined {
  if (!inDoubt) return undefined;
  const now = core.clock.now();
  return now + longSearch(now - sentAt, core.processingTime);
}

/** Looks up a creation whose response was lost, for as long as the service may be working on it. */
async function lookAfter<Data>(
  call: Call,
  error: unknown,
  recovery: Recovery<Data>,
): Promise<Created<Data> | undefined> {
  if (verdictOf(error, true) === "idle") return undefined;
  const elapsed = call.core.clock.now() - call.sentAt;
  return lookUntil(call, searchTime(error, elapsed, call.core.processingTime), lookFor(call, recovery));
}

/** Whether the latest look-up is too old to send the creation again. */
const isOutdated = ({ scope, lookedAt }: Call): boolean => scope.elapsed() - lookedAt >= oldestLookUp;

/** A look-up. An error means that it could not decide. */
export interface RepeatedLook<Seen> {
  readonly look: (options: RequestOptions) => Promise<Seen>;
  /** Whether no later look-up can show anything else. */
  readonly isFinal: (seen: Seen) => boolean;
  /** Names what it has seen in the timeline. */
  readonly outcomeOf: (seen: Seen) => string;
}

/** Whether a later look-up may succeed. What a list or another look-up has just shown may not be readable yet. */
const mayPass = (error: unknown): boolean =>
  error instanceof PodPartnerError && (error.isRetryable || error instanceof NotFoundError);

/**
 * Repeats a look-up for `time` milliseconds, until what it sees is final. A look-up that fails with an error that may pass does not end the
 * search.
 *
 * @returns what the last look-up has seen.
 * @throws the error of the last look-up; `DeadlineError` when the deadline comes first.
 */
export async function lookUntil<Seen>(call: Call, time: number, lookUp: RepeatedLook<Seen>): Promise<Seen> {
  const { scope } = call;
  const until = scope.elapsed() + time;
  for (let count = 1, wait = 0, last = false; ; count++) {
    // A look-up that began before the end of the search time does not decide, however long it took.
    const decides = last || scope.elapsed() >= until;
    try {
      // In an outage the calls of a client share these requests, too.
      if (decides || call.core.retryBudget.spend()) {
        const seen = await lookOnce(call, lookUp, decides);
        if (lookUp.isFinal(seen) || (decides && !last)) return seen;
      }
    } catch (error) {
      if (decides || scope.ended(error) || !mayPass(error)) throw error;
    }
    if (last) throw scope.deadlineError("it was not found");
    wait = waits[count] ?? Math.min(wait * 2, longestWait);
    last = await scope.sleepBeforeLook(Math.max(0, Math.min(wait, until - scope.elapsed())));
  }
}

/**
 * Looks up once. Before the first request the look-up has the call's priority; later its priority is high.
 *
 * @param decides Whether no other look-up follows: then it is repeated when it fails.
 */
function lookOnce<Seen>(call: Call, { look, outcomeOf }: RepeatedLook<Seen>, decides = true): Promise<Seen> {
  const { scope, options, firstSent } = call;
  call.lookedAt = scope.elapsed();
  const own = {
    priority: firstSent === undefined ? options.priority : "high",
    retry: decides ? options.retry : { ...options.retry, retries: 0 },
  } as const;
  return call.ask((each) => look({ ...each, ...own }), outcomeOf);
}

/** How a creation is looked up in a call. */
export const lookFor = <Data>(call: Call, recovery: Recovery<Data>): RepeatedLook<Created<Data> | undefined> => ({
  look: async (options) => {
    const found = await recovery.look(options, call.firstSent ?? momentOf(call.core.clock));
    return found && { ...found, recovered: true };
  },
  isFinal: (found) => found !== undefined,
  outcomeOf: (found) => (found === undefined ? "not found" : "found"),
});
