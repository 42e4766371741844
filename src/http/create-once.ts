import { NotFoundError } from "../errors/api.ts";
import { PodPartnerError } from "../errors/base.ts";
import { DeadlineError } from "../errors/connection.ts";
import { OutcomeUnknownError } from "../errors/orders.ts";
import { type Moment, momentOf } from "../util/clock.ts";
import type { Latest } from "../util/latest.ts";
import type { Call, Found } from "./call.ts";
import { longSearch, refusesContent, retryAfterOf, searchTime, verdictOf } from "./outcome.ts";
import type { EncodedRequest } from "./request.ts";
import { part, type RequestOptions } from "./request-options.ts";
import { acquire, mayRetry, type Ready, sendOnce, waitForTurn, waitToRetry } from "./retry.ts";

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

/** The result of a creation. */
export interface Created<Data> extends Found<Data> {
  /** Whether a look-up found it after its response was lost. */
  readonly recovered: boolean;
  /** Whether a look-up found it although the call has sent none. */
  readonly existed: boolean;
}

/** A creation is not sent on a look-up that is older than this, in milliseconds: it is looked up once more. */
const oldestLookUp = 1_000;
/** So many look-ups in a row may be too old when the creation has its tokens. Then it is sent with the first token after the last one. */
const mostRepeats = 5;
/** After so many, creations are prepared one after the other: what their hooks do may have kept each other from being sent. */
const mostTogether = 2;
/** Where the limits may keep two requests apart for so many milliseconds, a creation has its tokens before it is looked up. */
const longestApart = 500;
/** A creation keeps its tokens for at most so many milliseconds while its look-up waits for others. */
const longestKept = 30_000;

/** The time of a look-up that was never made. */
const longAgo: Moment = { at: Number.NEGATIVE_INFINITY, date: Number.NEGATIVE_INFINITY };

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
  let tooOld = 0;
  for (let attempt = 1; ; attempt++) {
    // A request without a look-up is sent in this turn.
    const preparing = makeReady(call, recovery, tooOld);
    const next = preparing === undefined ? {} : await preparing;
    if (next.found !== undefined) return next.found;
    try {
      const arrival = await sendOnce(call, request, next.ready);
      return { ...call.read(arrival), recovered: false, existed: false };
    } catch (error) {
      const last = attempt > retry.retries;
      // Nothing was sent.
      if (error === lookUpTooOld) {
        tooOld += 1;
        attempt -= 1;
        continue;
      }
      if (!call.inDoubt) {
        if (last || !mayRetry(call, request, error)) throw error;
        attempt = await waitForTurn(call, error, attempt);
        continue;
      }
      if (scope.ended(error) && !(error instanceof DeadlineError)) throw error;
      if (recovery === undefined || last || !maySendAfterLookUp(call, error)) {
        return conclude(call, error, recovery, sentAgain);
      }
      const found = await orUnknown(call, recovery, async () => {
        const made = await lookAfter(call, error, recovery);
        if (made === undefined) await waitToRetry(call, error, attempt);
        return made;
      });
      if (found !== undefined) return found;
      sentAgain = true;
    }
  }
}

/** What is known before a request is sent: it has its tokens, or a look-up has found the creation. */
interface Prepared<Data> {
  readonly ready?: Ready;
  readonly found?: Created<Data>;
}

/** Prepares a request that was looked up. Any other one has nothing to prepare. */
function makeReady<Data>(
  call: Call<never, Data>,
  recovery: Recovery<Data> | undefined,
  tooOld: number,
): Promise<Prepared<Data>> | undefined {
  if (recovery === undefined || call.lookedAt === undefined) return undefined;
  const prepare = () => lookAndAcquire(call, recovery, tooOld);
  const inTurn = () => call.core.creations.take("", prepare, (turn) => call.within(turn));
  return orUnknown(call, recovery, tooOld < mostTogether ? prepare : inTurn);
}

/** Ends an attempt before its request is sent: the look-up that allowed it has become too old. */
const lookUpTooOld = new Error("the look-up is too old");

/**
 * Takes the tokens for a creation that was looked up. If the look-up is too old by then, it is repeated, and the creation keeps its tokens
 * meanwhile: its request leaves right after the response.
 *
 * @param repeats How many look-ups in a row have become too old.
 */
async function lookAndAcquire<Data>(
  call: Call<never, Data>,
  recovery: Recovery<Data>,
  repeats: number,
): Promise<Prepared<Data>> {
  const { core, endpoint, scope } = call;
  const lookUp = lookFor(call, recovery);
  const isLast = repeats >= mostRepeats;
  const check = () => {
    if (!isLast && isOutdated(call, repeats)) throw lookUpTooOld;
  };
  const again = () => lookAndAcquire(call, recovery, repeats + 1);
  if (isOutdated(call, repeats) && !takesTokensFirst(call)) {
    const found = await lookOnce(call, lookUp, { first: true });
    if (found !== undefined) return { found };
  }
  const permit = await acquire(call, !isOutdated(call, repeats));
  if (isLast || !isOutdated(call, repeats)) return { ready: { permit, check } };
  const release = core.pacer.keep(endpoint);
  if (release === undefined) {
    core.pacer.giveBack(permit);
    const found = await lookOnce(call, lookUp, { first: true });
    return found === undefined ? again() : { found };
  }
  const isBounded = longestKept < scope.remaining();
  let ready: Ready | undefined;
  try {
    const found = await lookOnce(call, lookUp, { first: true, ...(isBounded && { deadline: longestKept }) });
    if (found !== undefined) return { found };
    if (!isOutdated(call, repeats)) {
      ready = { permit, check };
      return { ready };
    }
  } catch (error) {
    if (!isBounded || scope.ended(error) || !(error instanceof DeadlineError)) throw error;
  } finally {
    release();
    if (ready === undefined) core.pacer.giveBack(permit);
  }
  return again();
}

/** Whether a creation takes its tokens before it is looked up, because its turn may come too late after that of the look-up. */
const takesTokensFirst = ({ core, endpoint }: Call): boolean => core.pacer.apart(endpoint) >= longestApart;

/** Looks a creation up for `time` milliseconds, and sends it at most once if it does not exist. */
export async function findOrCreate<Data>(
  call: Call<never, Data>,
  request: EncodedRequest,
  recovery: Recovery<Data>,
  time: number,
): Promise<Created<Data>> {
  if (time === 0 && takesTokensFirst(call)) call.lookedAt = longAgo;
  else {
    const found = await lookUntil(call, time, lookFor(call, recovery));
    if (found !== undefined) return found;
  }
  return createOnce(call, request, recovery);
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

/** Runs `work`. While the outcome is in doubt, a failure becomes `OutcomeUnknownError`, except the caller's own abort. */
async function orUnknown<T>(call: Call, recovery: Doubt, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isAbort = call.scope.ended(error) && !(error instanceof DeadlineError);
    throw isAbort || !call.inDoubt ? error : unknown(call, error, recovery);
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

/** A creation of an earlier call whose outcome that call could not find out. */
interface Unsettled {
  /** When it was first sent. */
  readonly sent: Moment;
  /** Until when the service may still carry it out. */
  readonly until: number;
}

/** Maximum number of creations, and of changes, whose outcomes are unknown and that a client remembers. */
export const mostInDoubt = 10_000;

/** The creations of a client whose outcomes are unknown, by what identifies them. They stay until their outcome is known. */
export type Doubts = Latest<Unsettled>;

/** Like {@link createOnce}. A creation that an earlier call has left in doubt is looked up first. */
export async function settleOrCreate<Data>(
  call: Call<never, Data>,
  request: EncodedRequest,
  recovery: Recovery<Data>,
  doubts: Doubts,
  key: string,
): Promise<Created<Data>> {
  const { clock } = call.core;
  const doubt = doubts.get(key);
  try {
    let found: Created<Data> | undefined;
    if (doubt !== undefined) {
      call.inDoubt = true;
      call.identifiers = recovery.identifiers;
      call.firstSent = doubt.sent;
      call.sentAt = doubt.sent.at;
      const time = Math.max(0, doubt.until - clock.now());
      found = await orUnknown(call, recovery, () => lookUntil(call, time, lookFor(call, recovery)));
    }
    const made = found ?? (await createOnce(call, request, recovery));
    if (doubt !== undefined) doubts.forget(key, doubt);
    return made;
  } catch (error) {
    const until = call.attempts === 0 ? doubt?.until : doubtfulUntil(call);
    if (until !== undefined)
      doubts.set(key, { sent: call.firstSent ?? momentOf(clock), until: Math.max(until, doubt?.until ?? 0) });
    else if (doubt !== undefined) doubts.forget(key, doubt);
    throw error;
  }
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

/** Whether the latest look-up is too old to send the creation. Where the limits keep two requests apart, it may be older by that time. */
const isOutdated = ({ core, endpoint, lookedAt }: Call, repeats: number): boolean =>
  lookedAt !== undefined &&
  core.pulse.since(lookedAt) >= oldestLookUp + (repeats > 0 ? core.pacer.apart(endpoint, true) : 0);

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
        const seen = await lookOnce(call, lookUp, { decides });
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

/** How one look-up is made. */
interface Looking {
  /** Whether no other look-up follows: then it is repeated when it fails. Default true. */
  readonly decides?: boolean;
  /** Whether it comes before all other requests, because a creation is sent right after it. */
  readonly first?: boolean;
  readonly deadline?: number;
}

/** Looks up once. Before the first request the look-up has the call's priority; later its priority is high. */
function lookOnce<Seen>(
  call: Call,
  { look, outcomeOf }: RepeatedLook<Seen>,
  { decides = true, first = false, ...deadline }: Looking = {},
): Promise<Seen> {
  const { core, options, firstSent } = call;
  const own = {
    priority: firstSent === undefined && !first ? options.priority : "high",
    retry: decides ? options.retry : { ...options.retry, retries: 0 },
    ...(first && { [part]: "first" }),
    ...deadline,
  } as const;
  const ask = () => call.ask((each) => look({ ...each, ...own }), outcomeOf);
  return core.pulse.during(ask, (latest) => {
    call.lookedAt = latest;
  });
}

/** How a creation is looked up in a call. */
export const lookFor = <Data>(call: Call, recovery: Recovery<Data>): RepeatedLook<Created<Data> | undefined> => ({
  look: async (options) => {
    const found = await recovery.look(options, call.firstSent ?? momentOf(call.core.clock));
    return found && { ...found, recovered: call.inDoubt, existed: !call.inDoubt };
  },
  isFinal: (found) => found !== undefined,
  outcomeOf: (found) => (found === undefined ? "not found" : "found"),
});
