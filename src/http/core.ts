import type { Clock } from "../util/clock.ts";
import type { Call } from "./call.ts";
import type { ResponseMode } from "./decode.ts";
import type { Endpoint, EndpointInput } from "./endpoint.ts";
import type { Observe } from "./observer.ts";
import type { Pacer } from "./pacing/pacer.ts";
import type { Recovery } from "./recovery.ts";
import type { RequestOptions, RetryOptions } from "./request-options.ts";
import type { RetryBudget } from "./retry-budget.ts";
import type { Redact } from "./snapshot.ts";
import type { Transport } from "./transport.ts";

/** What all calls of one client share. */
export interface Core {
  readonly baseUrl: string;
  readonly clock: Clock;
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
  /** Bytes of a body that is read as text. */
  readonly maxResponseSize: number;
}

/** What a resource adds to a call of its own. */
export interface Plan<Data, Result> {
  /** How a lost creation is found again. */
  readonly recovery?: () => Recovery<Data>;
  /** Makes the method's result of the endpoint's data. */
  readonly shape: (data: Data, recovered: boolean) => Result;
}

/** Sends a call through the whole way. A resource receives this, and nothing else of the client. */
export interface Send {
  <Input extends EndpointInput, Data>(
    endpoint: Endpoint<Input, Data>,
    input: Input,
    options?: RequestOptions,
  ): Call<Data>;
  <Input extends EndpointInput, Data, Result>(
    endpoint: Endpoint<Input, Data>,
    input: Input,
    options: RequestOptions | undefined,
    plan: Plan<Data, Result>,
  ): Call<Result>;
}
