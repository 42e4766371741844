import { PodPartnerError } from "../errors/base.ts";
import type { OpenStorage } from "../storage/client-storage.ts";
import type { PartnerClock } from "../util/clock.ts";
import type { Call } from "./call.ts";
import type { RetryOptions } from "./request-options.ts";
import type { ApiCall, CallResult, Run, Start } from "./send.ts";

/** The parts of the client that a call of several requests needs. */
export interface CallContext {
  readonly start: Start;
  readonly run: Run;
  readonly clock: PartnerClock;
  /** The client's `deadline` in milliseconds, for calls without one. */
  readonly deadline: number | undefined;
  /** The client's `timeout` in milliseconds, for calls without one. */
  readonly timeout: number;
  /** The client's `retry`, for calls without one. */
  readonly retry: RetryOptions;
  /** Opens what the client remembers. */
  readonly openStorage: OpenStorage;
}

/**
 * Starts a deadline that several requests share. Returns a function that gives the remaining milliseconds; undefined without a
 * deadline. It returns at least 1, so that the next request reports an exceeded deadline.
 */
export function countdown(
  { clock, deadline: ofClient }: CallContext,
  deadline: number | undefined = ofClient,
): () => number | undefined {
  const began = clock.now();
  return () => deadline && Math.max(1, deadline - (clock.now() - began));
}

/** Waits for a call that is a part of another. The timeline of that one, also in an error, has the steps of both. */
export async function join<Data>({ scope, recorder }: Call, part: ApiCall<Data>): Promise<CallResult<Data>> {
  const began = scope.elapsed();
  try {
    const result = await part.withResponse();
    recorder.append(result.timeline, began);
    return result;
  } catch (error) {
    if (error instanceof PodPartnerError) {
      recorder.append(error.timeline, began);
      error.timeline = recorder.entries;
    }
    throw error;
  }
}
