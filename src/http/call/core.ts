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

/** A creation before it is sent. */
export interface Delivery<Data> {
  /**
   * Carries out the creation.
   *
   * @param lookFor Milliseconds for which to look up the creation before it is sent. Default: it is sent at once.
   */
  run(lookFor?: number): Promise<Delivered<Data>>;
  /** Waits for a promise, at most until the call ends. */
  within<T>(promise: Promise<T>): Promise<T>;
  /** Sends another request as a part of this call: it ends when the call ends, and is in the call's timeline. */
  ask<T>(request: (options: RequestOptions) => Promise<T>): Promise<T>;
  /** After a failure: until when, by the clock, the service may still carry out the creation; undefined when it certainly does not. */
  doubtfulUntil(): number | undefined;
}

/** The response that contained a call's data, and whether it is the response to a look-up. */
export type Ending = Pick<Delivered<unknown>, "response" | "recovered">;

/** What a resource adds to a call. */
export interface Plan<Data, Result> {
  /** Whether the response must match its schema even with `responses: "report"`, because the SDK itself uses it. */
  readonly strict: boolean;
  /** How to look up a lost creation, by the content of the body that was sent: the caller's own object may have changed since. */
  recovery?(sent: unknown): Recovery<Data>;
  /** Wraps a creation. */
  readonly around?: (delivery: Delivery<Data>) => Promise<Delivered<Data>>;
  /** Wraps a call that may be repeated: it can have a result without a request. `within` waits at most until the call ends. */
  readonly unless?: (run: () => Promise<Delivered<Data>>, within: Delivery<Data>["within"]) => Promise<Delivered<Data>>;
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
