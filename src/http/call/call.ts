import type { TimelineEntry } from "../../errors/timeline.ts";
import type { Pacer } from "../pacing/pacer.ts";
import type { RateLimits } from "../pacing/rate-limits.ts";

/** What a call gives besides its data. */
export interface WithResponse<Data> {
  /** What awaiting the call itself gives. */
  readonly data: Data;
  /** The answer's head; its body has been read, or is the download's. After a recovery it is the answer to the look-up. */
  readonly response: Response;
  /** What happened, in order: queueing, attempts, waits, look-ups. */
  readonly timeline: readonly TimelineEntry[];
  /** The rate limits as they stood when the answer came, by policy. */
  readonly rateLimits: RateLimits;
}

/** The promise of a call's data, which can also tell about the answer that brought it. */
export interface ApiCall<Data> extends Promise<Data> {
  /**
   * The data together with the answer's head, the timeline and the rate limits.
   *
   * @example
   * const { data: order, rateLimits } = await partner.orders.get(orderReference).withResponse();
   */
  withResponse(): Promise<WithResponse<Data>>;
}

/** All but the rate limits, which are read when they are asked for. */
export type Answer<Data> = Omit<WithResponse<Data>, "rateLimits">;

/** Makes the promise of the data out of the promise of everything. */
export function toCall<Data>(answer: Promise<Answer<Data>>, pacer: Pick<Pacer, "snapshot">): ApiCall<Data> {
  const data = answer.then((all) => all.data);
  return Object.assign(data, {
    withResponse: () => {
      // Whoever asks for everything has not asked for this one: its failure is told once.
      data.catch(() => undefined);
      return answer.then((all) => ({ ...all, rateLimits: pacer.snapshot() }));
    },
  });
}
