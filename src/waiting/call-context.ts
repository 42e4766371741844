import type { Pacer } from "../http/pacing/pacer.ts";
import type { PartnerClock } from "../util/clock.ts";

/** What a call of several requests needs of its client. */
export interface CallContext {
  readonly clock: PartnerClock;
  /** The client's own `deadline`, for calls that bring none. */
  readonly deadline: number | undefined;
  readonly pacer: Pick<Pacer, "snapshot">;
}

/**
 * Starts the one deadline that several requests share, and gives the function that tells what is left of it: undefined without a
 * deadline. With no time left the next request reports it.
 */
export function countdown(
  { clock, deadline: ofClient }: CallContext,
  deadline: number | undefined = ofClient,
): () => number | undefined {
  const began = clock.now();
  return () => deadline && Math.max(1, deadline - (clock.now() - began));
}
