import type { RequestOptions } from "../endpoint/request-options.ts";

/** A creation's data, and the response that brought it. */
export interface Found<Data> {
  readonly data: Data;
  readonly response: Response;
}

/** The result of a creation, and whether a look-up brought it. */
export interface Delivered<Data> extends Found<Data> {
  readonly recovered: boolean;
}

/** How a creation whose response was lost is found again. */
export interface Recovery<Data> {
  /**
   * Looks for it: undefined when it is not there. An error means that this cannot be told.
   *
   * @param sentAt When the first attempt was sent, by the client's clock.
   */
  readonly look: (options: RequestOptions, sentAt: number) => Promise<Found<Data> | undefined>;
  /** Whether the latest look-up has shown that it is not there and cannot come any more. */
  readonly ruledOut?: () => boolean;
  /** Whether the caller can repeat the same call without harm while the outcome is unknown. */
  readonly repeatable: boolean;
  /** Where it cannot be decided: what identifies it, and how to find out. */
  readonly identifiers: Readonly<Record<string, unknown>>;
  readonly how: string;
}
