import { PodPartnerError, type TimelineEntry } from "../errors/base.ts";
import { type CallSite, withCallSite } from "../errors/call-site.ts";
import type { OpenStorage } from "../storage/client-storage.ts";
import type { PartnerClock } from "../util/clock.ts";
import type { Pacer } from "./pacing/pacer.ts";
import type { RetryOptions } from "./request-options.ts";
import { type ApiCall, type CallResult, type Run, type Start, toCall } from "./send.ts";

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

/** Joins the timelines of several sequential requests. An error of one request gets the joint timeline. */
export class JointTimeline {
  readonly entries: TimelineEntry[] = [];
  readonly #clock: PartnerClock;
  readonly #began: number;

  constructor(clock: PartnerClock) {
    this.#clock = clock;
    this.#began = clock.now();
  }

  /** Waits for a request and appends its timeline. */
  async add<Data>(call: ApiCall<Data>): Promise<CallResult<Data>> {
    const at = Math.round(this.#clock.now() - this.#began);
    try {
      const result = await call.withResponse();
      this.#append(result.timeline, at);
      return result;
    } catch (error) {
      if (PodPartnerError.isInstance(error)) {
        this.#append(error.timeline, at);
        error.timeline = this.entries;
      }
      throw error;
    }
  }

  #append(entries: readonly TimelineEntry[], at: number): void {
    this.entries.push(...entries.map((entry) => ({ ...entry, at: entry.at + at })));
  }
}

/** Makes a call of several requests. Its errors have the frames of the call site. */
export function laterCall<Data>(
  context: CallContext,
  callSite: CallSite,
  run: () => Promise<CallResult<Data>>,
): ApiCall<Data> {
  const settled = run().catch((error: unknown) => {
    throw withCallSite(error, callSite);
  });
  return toCall(settled, context.pacer);
}
