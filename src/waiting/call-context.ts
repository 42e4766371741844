import type { Pacer } from "../http/pacing/pacer.ts";
import type { RetryOptions } from "../http/request-options.ts";
import type { Run, Start } from "../http/send.ts";
import type { OpenStorage } from "../storage/client-storage.ts";
import type { PartnerClock } from "../util/clock.ts";

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
  readonly pacer: Pick<Pacer, "rateLimits">;
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
