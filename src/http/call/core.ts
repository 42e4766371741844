import type { PartnerClock } from "../../util/clock.ts";
import type { Endpoint, EndpointInput } from "../endpoint/endpoint.ts";
import type { RequestOptions, RetryOptions } from "../endpoint/request-options.ts";
import type { Pacer } from "../pacing/pacer.ts";
import type { Delivered, Recovery } from "../retry/recovery.ts";
import type { RetryBudget } from "../retry/retry-budget.ts";
import type { ResponseMode } from "../wire/decode.ts";
import type { Redact } from "../wire/redact.ts";
import type { Transport } from "../wire/transport.ts";
import type { ApiCall } from "./call.ts";
import type { Observe } from "./observer.ts";

/** What all calls of one client share. */
export interface Core {
  readonly baseUrl: string;
  readonly clock: PartnerClock;
  readonly transport: Transport;
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
  /** Milliseconds that the service may take for a creation, from sending on. */
  readonly processingTime: number;
  /** Bytes of a body that is read as text. */
  readonly maxResponseSize: number;
}

/** A creation that is about to be delivered. */
export interface Delivery<Data> {
  /**
   * Delivers it.
   *
   * @param lookFor Milliseconds for which to look for it before it is sent at all; without it, it is sent at once.
   */
  run(lookFor?: number): Promise<Delivered<Data>>;
  /** Waits for something, and no longer than the call lasts. */
  within<T>(promise: Promise<T>): Promise<T>;
  /** Makes another request as a part of this call: it ends when the call ends, and stands in the call's timeline. */
  ask<T>(request: (options: RequestOptions) => Promise<T>): Promise<T>;
  /** After a failure: until when, by the clock, it may still come into being; undefined when it certainly does not. */
  doubtfulUntil(): number | undefined;
}

/** How a call ended: the response that brought its data, and whether it is the response to a look-up. */
export type Ending = Pick<Delivered<unknown>, "response" | "recovered">;

/** What a resource adds to a call of its own. */
export interface Plan<Data, Result> {
  /** Whether the response must keep to its schema whatever `responses` says: the SDK itself relies on it. */
  readonly strict: boolean;
  /** How a lost creation is found again, by the content of the body that was sent: what was given may have changed since. */
  recovery?(sent: unknown): Recovery<Data>;
  /** Wraps the delivery of a creation. */
  readonly around?: (delivery: Delivery<Data>) => Promise<Delivered<Data>>;
  /** Makes the method's result of the endpoint's data. */
  readonly shape: (data: Data, ending: Ending) => Result;
}

/** The plan of a request that the SDK makes for itself. */
export const strictly = <Data>(): Plan<Data, Data> => ({ strict: true, shape: (data) => data });

/** Sends a call through the whole way. A resource receives this, and nothing else of the client. */
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
