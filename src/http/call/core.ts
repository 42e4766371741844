import type { PartnerClock } from "../../util/clock.ts";
import type { Endpoint, EndpointInput } from "../endpoint/endpoint.ts";
import type { RequestOptions, RetryOptions } from "../endpoint/request-options.ts";
import type { Pacer } from "../pacing/pacer.ts";
import type { Delivered, Recovery } from "../retry/recovery.ts";
import type { RetryBudget } from "../retry/retry-budget.ts";
import type { ResponseMode } from "../wire/decode.ts";
import type { Redact } from "../wire/redact.ts";
import type { Sender } from "../wire/transport.ts";
import type { ApiCall } from "./call.ts";
import type { Observe } from "./observer.ts";

/** What all calls of one client share. */
export interface Core {
  readonly baseUrl: string;
  readonly clock: PartnerClock;
  readonly transport: Sender;
  readonly pacer: Pacer;
  /** Whether calls wait for tokens. */
  readonly paced: boolean;
  readonly observe: Observe;
  readonly redact: Redact;
  readonly responses: ResponseMode;
  readonly timeout: number;
  readonly deadline: number | undefined;
  readonly retry: RetryOptions;
  readonly retryBudget: RetryBudget;
  /** Milliseconds that the service may take for a creation, from the time when the request is sent. */
  readonly processingTime: number;
  /** The maximum size in bytes of a body that is read as text. */
  readonly maxResponseSize: number;
}

/** A call before its request is sent, and what a resource may do within the call. */
export interface Delivery<Data> {
  /** The content of the request's JSON body as it was sent: the caller's own object may have changed since. */
  sent(): unknown;
  /**
   * Sends the request, with its retries. A creation is looked up before it is sent again.
   *
   * @param lookFor Milliseconds for which to look up a creation before it is sent. Default: it is sent at once.
   */
  run(lookFor?: number): Promise<Delivered<Data>>;
  /** Waits for a promise, at most until the call ends. */
  within<T>(promise: Promise<T>): Promise<T>;
  /** Sends another request as a part of this call: it ends when the call ends, and is in the call's timeline. */
  ask<T>(request: (options: RequestOptions) => Promise<T>): Promise<T>;
  /**
   * After a failure: until when, by the clock, the service may still carry out a request whose response was lost; undefined if no
   * response was lost.
   */
  doubtfulUntil(): number | undefined;
  /**
   * Repeats a look-up until it returns a value, at most until a time by the clock, and at least once. Returns undefined if the last
   * look-up returned none. `outcomeOf` names a value in the timeline.
   *
   * @throws the error of the last look-up, or of one that cannot succeed later.
   */
  lookUntil<T>(
    until: number,
    look: (options: RequestOptions) => Promise<T | undefined>,
    outcomeOf: (found: T) => string,
  ): Promise<T | undefined>;
  /** Whether an error is the caller's own reason for an abort. */
  aborted(error: unknown): boolean;
}

/** The response that contained a call's data, and whether it is the response to a look-up. */
export type Ending = Pick<Delivered<unknown>, "response" | "recovered">;

/** What a resource adds to a call. */
export interface Plan<Data, Result> {
  /** Whether the response must match its schema even with `responses: "report"`, because the SDK itself uses it. */
  readonly strict: boolean;
  /** How to look up a lost creation, by the content of the body that was sent: the caller's own object may have changed since. */
  recovery?(sent: unknown): Recovery<Data>;
  /** Wraps the sending of the request. It can have a result without a request. */
  readonly around?: (delivery: Delivery<Data>) => Promise<Delivered<Data>>;
  /**
   * Receives the text of a successful response before it is parsed. Parsing waits for the returned promise. Only for a call that may be
   * repeated.
   */
  readonly beforeParsing?: (text: string) => Promise<void> | undefined;
  /** Makes the method's result out of the endpoint's data. */
  readonly shape: (data: Data, ending: Ending) => Result;
}

/** The plan of a request that the SDK sends for its own use. */
export const strictly = <Data>(): Plan<Data, Data> => ({ strict: true, shape: (data) => data });

/** Sends a call through the whole pipeline. A resource receives this function and no other part of the client. */
export interface Send {
  <Input extends EndpointInput, Data>(
    endpoint: Endpoint<Input, Data>,
    input: Input,
    options?: RequestOptions,
  ): ApiCall<Data>;
  <Input extends EndpointInput, Data, Result>(
    endpoint: Endpoint<Input, Data>,
    input: Input,
    options: RequestOptions | undefined,
    plan: Plan<Data, Result>,
  ): ApiCall<Result>;
}
