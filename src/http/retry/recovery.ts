import type { ResponseHead } from "../../util/response-head.ts";
import type { RequestOptions } from "../endpoint/request-options.ts";

/** A creation's data, and the response that contained it. */
export interface Found<Data> {
  readonly data: Data;
  readonly response: ResponseHead;
}

/** The result of a creation, and whether a look-up found it. */
export interface Delivered<Data> extends Found<Data> {
  readonly recovered: boolean;
}

/** How a creation whose response was lost is found again. */
export interface Recovery<Data> {
  /**
   * Looks up the creation; undefined when it does not exist. An error means that the look-up could not decide.
   *
   * @param sentAt When the first attempt was sent, by the client's clock.
   */
  readonly look: (options: RequestOptions, sentAt: number) => Promise<Found<Data> | undefined>;
  /** Whether the latest look-up has shown that the creation does not exist and cannot appear later. */
  readonly ruledOut?: () => boolean;
  /** Whether the caller can repeat the same call without harm while the outcome is unknown. */
  readonly repeatable: boolean;
  /** For the error when look-ups cannot decide: what identifies the creation, and how the caller finds out. */
  readonly identifiers: Readonly<Record<string, unknown>>;
  readonly how: string;
}
