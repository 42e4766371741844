import { NotFoundError, RedirectError } from "../errors/api.ts";
import { PodPartnerError } from "../errors/base.ts";
import { longestSince } from "../util/clock.ts";
import type { Call } from "./call.ts";
import { isUnreadable } from "./outcome.ts";
import { partOfCall, type RequestOptions } from "./request-options.ts";

/*
 * "Look until known", one of the two primitives of a call (the other one is "send once", send-once.ts): a look-up is repeated until its
 * result is final.
 */

/** A look-up older than this many milliseconds is repeated before the creation is sent. */
const maxLookUpAge = 1_000;
/** Milliseconds before each look-up; after these the waits double, up to `longestWait`. */
const waits = [0, 500, 1_500, 2_000];
const maxWait = 8_000;

/** Whether the latest look-up is recent enough to send the creation. When it was repeated, the time between two requests is added. */
export const isFresh = ({ core, endpoint, attempts: { lookedAt } }: Call, repeats: number): boolean =>
  lookedAt !== undefined &&
  longestSince(lookedAt, core.clock) < maxLookUpAge + (repeats > 0 ? core.pacer.spacing(endpoint, true) : 0);

/** A look-up. An error means that it could not decide. */
export interface LookUp<Seen> {
  readonly lookUp: (options: RequestOptions) => Promise<Seen>;
  /** Whether no later look-up can show anything else. */
  readonly isFinal: (seen: Seen) => boolean;
  /** Its outcome in the timeline. */
  readonly outcomeOf: (seen: Seen) => string;
}

/**
 * Whether a later look-up may succeed. An order that a list has just shown may not be readable yet, and a gateway may send its own page, or a
 * redirect to it, for a while.
 */
const isTransient = (error: unknown): boolean =>
  error instanceof PodPartnerError &&
  (error.isRetryable || error instanceof NotFoundError || error instanceof RedirectError || isUnreadable(error));

/**
 * Repeats a look-up for `time` milliseconds, or until its result is final. A transient error does not end the search.
 *
 * @returns the result of the last look-up.
 * @throws the error of the last look-up; `DeadlineError` when the deadline comes first.
 */
export async function lookUpUntil<Seen>(call: Call, time: number, lookUp: LookUp<Seen>): Promise<Seen> {
  const { scope } = call;
  const until = scope.elapsed() + time;
  for (let count = 1, wait = 0, last = false; ; count++) {
    // A look-up that began before the end of the search time does not decide, however long it took.
    const decides = last || scope.elapsed() >= until;
    try {
      // In an outage, look-ups use the retry budget, too.
      if (decides || call.core.retryBudget.spend()) {
        const seen = await lookUpOnce(call, lookUp, { decides });
        if (lookUp.isFinal(seen) || (decides && !last)) return seen;
      }
    } catch (error) {
      if (decides || scope.ended(error) || !isTransient(error)) throw error;
    }
    if (last) throw scope.deadlineError("it was not found");
    wait = waits[count] ?? Math.min(wait * 2, maxWait);
    last = await scope.sleepBeforeLook(Math.max(0, Math.min(wait, until - scope.elapsed())));
  }
}

/** How one look-up is made. */
interface LookUpUse {
  /** Whether no other look-up follows: then it is repeated when it fails. Default true. */
  readonly decides?: boolean;
  /** Whether it comes before all other requests, because a creation is sent right after it. */
  readonly urgent?: boolean;
  readonly deadline?: number;
}

/** Looks up once. Before the first request the look-up has the call's priority; later its priority is high. */
export function lookUpOnce<Seen>(
  call: Call,
  { lookUp, outcomeOf }: LookUp<Seen>,
  { decides = true, urgent = false, ...deadline }: LookUpUse,
): Promise<Seen> {
  const { core, options, attempts } = call;
  const overrides = {
    priority: attempts.firstSent === undefined && !urgent ? options.priority : "high",
    retry: decides ? options.retry : { ...options.retry, retries: 0 },
    ...(urgent && { [partOfCall]: "urgent" }),
    ...deadline,
  } as const;
  const work = () => call.lookUp((inherited) => lookUp({ ...inherited, ...overrides }), outcomeOf);
  return core.pulse.during(work, (latest) => attempts.lookedUp(latest));
}
