import type { TimelineEntry } from "../../errors/timeline.ts";
import { type ResponseHead, responseOf } from "../../util/response-head.ts";
import type { Pacer } from "../pacing/pacer.ts";
import type { RateLimits } from "../pacing/rate-limits.ts";

/** A call's data with its response, timeline and rate limits. */
export interface WithResponse<Data> {
  /** The data that awaiting the call itself returns. */
  readonly data: Data;
  /** The head of the response; its body was read, or belongs to the download. After a recovery it is the response to the look-up. */
  readonly response: Response;
  /** The steps of the call, in order: queueing, attempts, waits, look-ups. */
  readonly timeline: readonly TimelineEntry[];
  /** The rate limits when the response arrived, by policy. */
  readonly rateLimits: RateLimits;
}

/** The promise of a call's data. `withResponse()` also gives the response that contained it. */
export interface ApiCall<Data> extends Promise<Data> {
  /**
   * Returns the data together with the head of the response, the timeline and the rate limits.
   *
   * @example
   * const { data: order, rateLimits } = await partner.orders.get(orderReference).withResponse();
   */
  withResponse(): Promise<WithResponse<Data>>;
}

/** The result of a call without the rate limits, which are read on demand. */
export type CallResult<Data> = Omit<WithResponse<Data>, "rateLimits" | "response"> & {
  readonly response: ResponseHead;
};

/** Makes an `ApiCall` out of the promise of a call's result. */
export function toCall<Data>(result: Promise<CallResult<Data>>, pacer: Pick<Pacer, "forecast">): ApiCall<Data> {
  const data = result.then((all) => all.data);
  return Object.assign(data, {
    withResponse: () => {
      // The returned promise reports a failure. The promise of the data alone must not report it as unhandled.
      data.catch(() => undefined);
      return result.then(({ response, ...all }) => ({
        ...all,
        response: responseOf(response),
        rateLimits: pacer.forecast.snapshot(),
      }));
    },
  });
}
