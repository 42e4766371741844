import { DeadlineError } from "../errors/connection.ts";
import { OutcomeUnknownError } from "../errors/orders.ts";
import { StorageError } from "../errors/storage.ts";
import type { Moment } from "../util/clock.ts";
import { momentOf } from "../util/clock.ts";
import type { Latest } from "../util/latest.ts";
import type { Doubt } from "./attempts.ts";
import type { Call, Found } from "./call.ts";
import { isFresh, type LookUp, lookUpOnce, lookUpUntil } from "./look-up.ts";
import { isRateLimited, refusesContent, retryAfterOf, verdictOf } from "./outcome.ts";
import type { EncodedRequest } from "./request.ts";
import type { RequestOptions } from "./request-options.ts";
import { makeAttempts, mayRetry, waitForRetry, waitToRetry } from "./retry.ts";
import { acquire, type Ready, sendOnce } from "./send-once.ts";

/*
 * How something is created at most once (law 2): send it once; when the response is lost, look it up until its outcome is known; send it
 * again only if it certainly does not exist.
 */

/** How a creation is found again when its response was lost, and what an `OutcomeUnknownError` says while look-ups cannot decide. */
export interface Recovery<Data> {
  /** Whether the caller can safely repeat the same call while the outcome is unknown. */
  readonly repeatable: boolean;
  /** What identifies the creation, and how the caller finds out. */
  readonly identifiers: Readonly<Record<string, unknown>>;
  readonly how: string;
  /**
   * Looks up the creation; undefined when it does not exist. An error means that the look-up could not decide.
   *
   * @param sent When the first attempt was sent, by the client's clock.
   */
  readonly lookUp: (options: RequestOptions, sent: Moment) => Promise<Found<Data> | undefined>;
  /** Whether the latest look-up has shown that the creation does not exist and cannot appear later. */
  readonly ruledOut?: () => boolean;
}

/** The result of a creation. */
export interface Created<Data> extends Found<Data> {
  /** Whether a look-up found it after its response was lost. */
  readonly recovered: boolean;
  /** Whether it existed before: no request of this call can have created it. */
  readonly existed: boolean;
}

/** Look-ups in a row that may be too old when the creation has its tokens. After that, it is sent with the first token after a look-up. */
const maxOutdated = 5;
/** The same after this many 429s: in a bucket of one token that no response reports, each look-up takes the token of the creation. */
const maxRefusals = 3;
/** After this many, creations are prepared one at a time: their hooks may have delayed each other. */
const maxOutdatedTogether = 2;
/** If two requests can be this many milliseconds apart, a creation takes its tokens before it is looked up. */
const maxSpacing = 500;
/** A creation keeps its tokens for at most this many milliseconds while it is looked up. */
const maxKept = 30_000;

/** What is done before each attempt of a creation. */
export interface Sending {
  /** Called when the request has its tokens, to note that it is about to be sent. If it rejects, the request is not sent, and the call ends. */
  readonly note?: (() => Promise<void>) | undefined;
  /** Called right before the request. Throws if it may no longer be sent. */
  readonly check?: (() => void) | undefined;
  /** Whether each attempt needs a look-up before it. */
  readonly lookFirst?: boolean;
}

/**
 * Sends a creation at most once. Without a `recovery`, no look-up can decide, and a lost response ends the call.
 *
 * @throws `OutcomeUnknownError` when look-ups cannot decide.
 */
export function createOnce<Data>(
  call: Call<never, Data>,
  request: EncodedRequest,
  recovery: Recovery<Data> | undefined,
  { note, check, lookFirst = false }: Sending,
): Promise<Created<Data>> {
  const { attempts, core, retry, scope } = call;
  let found: Created<Data> | undefined;
  let isSentAgain = false;
  /** How many look-ups in a row were too old. */
  let outdated = 0;
  let refusals = 0;
  attempts.identify(recovery?.identifiers);
  const send = async ({ permit, check: checkLookUp }: Ready): Promise<Created<Data>> => {
    const checkAll = () => {
      // A 429 of another call may have come since it took its tokens.
      if (permit !== undefined && !permit.isCheck && core.pacer.isHeld(call.endpoint)) throw tooOld;
      checkLookUp?.();
      check?.();
    };
    const arrival = await sendOnce(call, request, { permit, check: checkAll });
    return { ...call.read(arrival), recovered: false, existed: false };
  };
  const attempt = async (): Promise<Created<Data>> => {
    if (found !== undefined) return found;
    // A request that needs no preparation is sent in this turn of the event loop.
    let ready: Ready | Created<Data> = {};
    if (recovery !== undefined && (lookFirst || attempts.lookedAt !== undefined))
      ready = await prepareInTurn(call, recovery, outdated);
    if ("data" in ready) return ready;
    if (note !== undefined) {
      const permit = ready.permit ?? (await acquire(call, call.isUrgent));
      try {
        await call.within(note());
      } catch (error) {
        core.pacer.giveBack(permit);
        throw error;
      }
      ready = { ...ready, permit };
    }
    return send(ready);
  };
  return makeAttempts(attempt, async (error, number) => {
    // Nothing was sent.
    if (error instanceof StorageError) throw error;
    if (error === tooOld) {
      outdated += 1;
      return number - 1;
    }
    if (!attempts.inDoubt) {
      if (!mayRetry(call, request, error, number)) throw error;
      if (isRateLimited(error)) refusals += 1;
      if (refusals >= maxRefusals) outdated = maxOutdated;
      return waitForRetry(call, error, number);
    }
    if (scope.ended(error) && !(error instanceof DeadlineError)) throw error;
    if (recovery === undefined || number > retry.retries || !maySendAfterLookUp(call, error)) {
      found = await conclude(call, error, recovery, isSentAgain);
      return number;
    }
    found = await orUnknown(call, recovery, async () => {
      const made = await lookAfter(call, error, recovery);
      if (made === undefined) await waitToRetry(call, error, number);
      return made;
    });
    isSentAgain = true;
    return number;
  });
}

/** Ends an attempt before its request is sent: its look-up, its note or its tokens have become too old. */
export const tooOld = new Error("the look-up is too old");

function prepareInTurn<Data>(
  call: Call<never, Data>,
  recovery: Recovery<Data>,
  outdated: number,
): Promise<Ready | Created<Data>> {
  const work = () => prepare(call, recovery, outdated);
  const inTurn = () => call.core.creations.take("", work, (turn) => call.within(turn));
  return orUnknown(call, recovery, outdated < maxOutdatedTogether ? work : inTurn);
}

/**
 * Looks up a creation and takes its tokens, or finds it. If the look-up is too old when the tokens come, it is repeated while the creation
 * keeps its tokens, so that the request leaves right after it.
 */
async function prepare<Data>(
  call: Call<never, Data>,
  recovery: Recovery<Data>,
  outdated: number,
): Promise<Ready | Created<Data>> {
  const { core, endpoint, scope } = call;
  const { pacer } = core;
  const lookUp = lookUpOf(call, recovery);
  for (let repeats = outdated; ; repeats += 1) {
    const isLast = repeats >= maxOutdated;
    const isSendable = () => isLast || isFresh(call, repeats);
    const check = () => {
      if (!isSendable()) throw tooOld;
    };
    if (!isFresh(call, repeats) && !takesTokensFirst(call)) {
      const found = await lookUpOnce(call, lookUp, { urgent: true });
      if (found !== undefined) return found;
    }
    const permit = await acquire(call, isFresh(call, repeats));
    if (isSendable()) return { permit, check };
    const release = pacer.keepTokens(endpoint);
    if (release === undefined) pacer.giveBack(permit);
    const isBounded = release !== undefined && maxKept < scope.remaining();
    let isKept = false;
    try {
      const found = await lookUpOnce(call, lookUp, { urgent: true, ...(isBounded && { deadline: maxKept }) });
      if (found !== undefined) return found;
      isKept = release !== undefined && isFresh(call, repeats);
      if (isKept) return { permit, check };
    } catch (error) {
      if (!isBounded || scope.ended(error) || !(error instanceof DeadlineError)) throw error;
    } finally {
      release?.();
      if (release !== undefined && !isKept) pacer.giveBack(permit);
    }
  }
}

/** Whether a creation takes its tokens before it is looked up, because its turn may come too long after that of the look-up. */
const takesTokensFirst = ({ core, endpoint }: Call): boolean => core.pacer.spacing(endpoint) >= maxSpacing;

/** Looks a creation up for `time` milliseconds, and sends it at most once if it does not exist. */
export async function findOrCreate<Data>(
  call: Call<never, Data>,
  request: EncodedRequest,
  recovery: Recovery<Data>,
  time: number,
  sending: Sending,
): Promise<Created<Data>> {
  if (time > 0 || !takesTokensFirst(call)) {
    const found = await lookUpFor(call, recovery, time);
    if (found !== undefined) return found;
  }
  return createOnce(call, request, recovery, { ...sending, lookFirst: true });
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
  if (call.scope.ended(error)) throw unknownOutcome(call, error, recovery);
  const verdict = verdictOf(error, recovery !== undefined);
  // The service itself responded to the only attempt: the error says what happened.
  if (verdict === "other" && !sentAgain) throw error;
  if (recovery !== undefined && verdict !== "other") {
    const found = await orUnknown(call, recovery, () => lookAfter(call, error, recovery));
    if (found !== undefined) return found;
  }
  if (verdict !== "refused" || !(refusesContent(error) || recovery?.ruledOut?.()))
    throw unknownOutcome(call, error, recovery);
  call.attempts.ruleOut();
  throw error;
}

/** Runs `work`. While the outcome is in doubt, a failure becomes `OutcomeUnknownError`, except the caller's own abort. */
export async function orUnknown<T>(call: Call, recovery: Recovery<unknown>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isAbort = call.scope.ended(error) && !(error instanceof DeadlineError);
    throw isAbort || !call.attempts.inDoubt ? error : unknownOutcome(call, error, recovery);
  }
}

function unknownOutcome({ name }: Call, cause: unknown, recovery?: Recovery<unknown>): OutcomeUnknownError {
  return new OutcomeUnknownError({
    endpoint: name,
    how: recovery?.how ?? "The SDK cannot look it up: check whether it exists before you send it again.",
    identifiers: recovery?.identifiers ?? {},
    isRetryable: recovery?.repeatable ?? false,
    cause,
  });
}

/** Maximum number of creations, and of changes, whose outcomes are unknown and that a client remembers. */
export const maxInDoubt = 10_000;

/** The creations and changes of a client whose outcomes are unknown, by what identifies them. They stay until their outcome is known. */
export type Doubts = Latest<Doubt>;

/** Like {@link createOnce}. A creation that an earlier call has left in doubt is looked up first. */
export function settleOrCreate<Data>(
  call: Call<never, Data>,
  request: EncodedRequest,
  recovery: Recovery<Data>,
  doubts: Doubts,
  key: string,
  sending: Sending,
  since: Moment | undefined,
): Promise<Created<Data>> {
  // Another process sent it and died. The service has had its time for it.
  const other = since && { since, until: call.core.clock.now() };
  return rememberDoubt(call, doubts, key, other, async (doubt) => {
    call.attempts.identify(recovery.identifiers);
    const find = ({ until }: Doubt) => lookUpFor(call, recovery, until - call.core.clock.now());
    const found = doubt && (await orUnknown(call, recovery, () => find(doubt)));
    return found ?? createOnce(call, request, recovery, sending);
  });
}

/** Runs `work`, which inherits the doubt that an earlier call with the same key has left. What it leaves in doubt is remembered. */
export async function rememberDoubt<T>(
  { attempts }: Call,
  doubts: Doubts,
  key: string,
  other: Doubt | undefined,
  work: (inherited: Doubt | undefined) => Promise<T>,
): Promise<T> {
  const own = doubts.get(key);
  const inherited = own ?? other;
  if (inherited !== undefined) attempts.inherit(inherited);
  try {
    const result = await work(inherited);
    if (own !== undefined) doubts.forget(key, own);
    return result;
  } catch (error) {
    const { doubt } = attempts;
    if (doubt !== undefined) doubts.set(key, doubt);
    else if (own !== undefined) doubts.forget(key, own);
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
  const { attempts, core } = call;
  attempts.lost(error);
  return lookUpFor(call, recovery, (attempts.lostUntil ?? 0) - core.clock.now());
}

/** Looks a creation up for `time` milliseconds, at least once. */
const lookUpFor = <Data>(call: Call, recovery: Recovery<Data>, time: number): Promise<Created<Data> | undefined> =>
  lookUpUntil(call, Math.max(0, time), lookUpOf(call, recovery));

/**
 * How a creation is looked up in a call.
 *
 * @param since When it was first sent. Default: by this call, or now.
 */
export const lookUpOf = <Data>(
  { attempts, core }: Call,
  recovery: Recovery<Data>,
  since?: Moment,
): LookUp<Created<Data> | undefined> => ({
  lookUp: async (options) => {
    const found = await recovery.lookUp(options, since ?? attempts.firstSent ?? momentOf(core.clock));
    const isOwn = attempts.mayHaveHappened > 0;
    return found && { ...found, recovered: isOwn, existed: !isOwn };
  },
  isFinal: (found) => found !== undefined,
  outcomeOf: (found) => (found === undefined ? "not found" : "found"),
});
