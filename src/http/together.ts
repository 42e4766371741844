import { attachCall } from "../errors/base.ts";
import { captureCallSite, framesOf } from "../errors/call-site.ts";
import { DeadlineError } from "../errors/connection.ts";
import type { Clock } from "../util/clock.ts";
import { Lifeline } from "./lifeline.ts";
import type { RequestOptions } from "./request-options.ts";

/** What a call of several requests needs to know of time. */
export interface Timing {
  readonly clock: Clock;
  /** The client's own `deadline`, for calls that bring none. */
  readonly deadline: number | undefined;
}

/** One call of several requests, which have one deadline together. */
interface Together {
  /** The options of the next request, with as much of the deadline as is left. */
  readonly options: () => RequestOptions;
  /** Waits for something, and no longer than the call lasts. */
  readonly wait: (turn: Promise<unknown>) => Promise<unknown>;
}

/** From `captureCallSite` to the resource's method. */
const insideFrames = 2;

/** Runs a call that takes several requests within the one deadline that it has. */
export async function together<T>(
  timing: Timing,
  endpoint: string,
  options: RequestOptions,
  work: (call: Together) => Promise<T>,
): Promise<T> {
  const { deadline = timing.deadline } = options;
  // A deadline that is none is told by the first request, with all else that is wrong with the options.
  const valid = deadline === undefined || deadline > 0;
  const callSite = deadline === undefined ? undefined : captureCallSite();
  const lifeline = new Lifeline(timing.clock, options.signal, valid ? deadline : undefined);
  try {
    lifeline.check();
    return await work({
      options: () => (valid && deadline !== undefined ? { ...options, deadline: left(lifeline) } : options),
      wait: (turn) => lifeline.within(turn),
    });
  } catch (error) {
    if (error instanceof DeadlineError && callSite !== undefined) {
      attachCall(error, { endpoint, attempts: error.attempts, callSite: framesOf(callSite, insideFrames) });
    }
    throw error;
  } finally {
    lifeline.close();
  }
}

/** A request with no time left still tells of it by itself. */
const left = (lifeline: Lifeline): number => Math.max(1, lifeline.remaining());
