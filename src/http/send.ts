import { PodPartnerError, type TimelineEntry } from "../errors/base.ts";
import { callerOf, withCallSite } from "../errors/call-site.ts";
import type { OpenStorage } from "../storage/client-storage.ts";
import type { PartnerClock } from "../util/clock.ts";
import { type ResponseHead, responseOf } from "../util/response-head.ts";
import { Call, type Core, type Found } from "./call.ts";
import { unexpected } from "./connection-errors.ts";
import { createOnce } from "./create-once.ts";
import type { Endpoint, EndpointInput } from "./endpoint.ts";
import type { Observer } from "./observer.ts";
import type { RateLimits } from "./pacing/forecast.ts";
import type { Priority } from "./pacing/queue.ts";
import type { EncodedRequest } from "./request.ts";
import { noOptions, type RequestOptions, type RetryOptions } from "./request-options.ts";
import type { ResponseUse } from "./response.ts";
import { sendWithRetries } from "./retry.ts";

/** A call's data with its response, timeline and rate limits. */
export interface WithResponse<Data> {
  /** The data that awaiting the call itself returns. */
  readonly data: Data;
  /** The name of the call in events, errors, log lines and traces. */
  readonly callId: string;
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

/**
 * Sends one request, and retries it as its endpoint allows. Most methods of the resources only call this.
 *
 * @param use What the SDK itself does with the response. Without it, the response is the caller's.
 */
export type Send = <Input extends EndpointInput, Data>(
  endpoint: Endpoint<Input, Data>,
  input: Input,
  options?: RequestOptions,
  use?: ResponseUse,
) => ApiCall<Data>;

/** Runs a call that `work` carries out, with as many requests as it needs. They share the call's signal, deadline and timeline. */
export type Run = <Input extends EndpointInput, Data, Result>(
  endpoint: Endpoint<Input, Data>,
  options: RequestOptions | undefined,
  work: (call: Call<Input, Data>) => Promise<Result>,
) => Promise<Result>;

/** Runs a call whose result is that of a response. */
export type Start = <Input extends EndpointInput, Data, Result>(
  endpoint: Endpoint<Input, Data>,
  options: RequestOptions | undefined,
  work: (call: Call<Input, Data>) => Promise<Found<Result>>,
) => ApiCall<Result>;

/** What a client does with a creation while the storage cannot be reached: it waits, or continues as without a storage. */
export type WhenLost = "hold" | "continue";

/** A storage that processes share. */
export interface SharedStorage {
  readonly open: OpenStorage;
  readonly whenLost: WhenLost;
}

/** What the resources need of the client. */
export interface CallContext {
  readonly send: Send;
  readonly start: Start;
  readonly run: Run;
  readonly clock: PartnerClock;
  /** The client's `deadline` in milliseconds, for calls without one. */
  readonly deadline: number | undefined;
  /** The client's `timeout` in milliseconds, for calls without one. */
  readonly timeout: number;
  /** The client's `retry`, for calls without one. */
  readonly retry: RetryOptions;
  /** The client's priority, for calls without one. */
  readonly priority: Priority | undefined;
  /** Opens what the client remembers. */
  readonly openStorage: OpenStorage;
  /** The storage that the client was given, which other processes may share; undefined if it remembers on its own. */
  readonly shared: SharedStorage | undefined;
  readonly observer: Observer;
}

/** Makes the functions that the resources send with. */
export function createSend(core: Core): Pick<CallContext, "send" | "start" | "run"> {
  /**
   * Carries out a call. Whatever it throws gets the endpoint, the timeline and the caller's line.
   *
   * @param inside The function that the resource called. The stack of an error begins at its caller.
   */
  const carryOut = <Input extends EndpointInput, Data, Result>(
    inside: Run | Start,
    endpoint: Endpoint<Input, Data>,
    options: RequestOptions = noOptions,
    work: (call: Call<Input, Data>) => Promise<Result>,
  ): Promise<Result> => {
    let call: Call<Input, Data>;
    try {
      call = new Call(core, endpoint, options);
    } catch (error) {
      // The `addEventListener` of a polyfilled signal can throw.
      return Promise.reject(unexpected(error, core.redact));
    }
    const trace = call.traceOf("call");
    // The only function that awaits the call, so that the stack of an error goes on with the caller's functions that await it.
    return core.observer.run(trace, async () => {
      let failed = true;
      try {
        const result = await work(call);
        failed = false;
        return result;
      } catch (error) {
        trace.error = withCallSite(call.complete(error), callerOf(inside));
        throw trace.error;
      } finally {
        call.close(failed);
        trace.status = call.attempts.status;
        core.observer.logCall(trace, call.timeline, () => call.scope.elapsed());
      }
    });
  };

  const run: Run = (endpoint, options, work) => carryOut(run, endpoint, options, work);

  const start: Start = <Input extends EndpointInput, Data, Result>(
    endpoint: Endpoint<Input, Data>,
    options: RequestOptions | undefined,
    work: (call: Call<Input, Data>) => Promise<Found<Result>>,
  ) => {
    let result: CallResult<Result> | undefined;
    const data = carryOut(start, endpoint, options, (call) =>
      work(call).then(({ data, response }) => {
        result = { data, response, callId: call.id, timeline: call.timeline };
        return data;
      }),
    );
    const withResponse = async () => {
      await data;
      const { response, ...all } = result as CallResult<Result>;
      return { ...all, response: responseOf(response), rateLimits: core.pacer.rateLimits() };
    };
    return Object.assign(data, { withResponse });
  };

  const send: Send = (endpoint, input, options, use) =>
    start(endpoint, options, (call) => sendAndRead(call, input, use));

  return { send, start, run };
}

/** Sends the request of a call, retries it as its endpoint allows, and reads the response. */
export function sendAndRead<Input extends EndpointInput, Data>(
  call: Call<Input, Data>,
  input: Input,
  use: ResponseUse = {},
): Promise<Found<Data>> {
  if (call.endpoint.request.kind !== "image") return sendEncoded(call, call.encode(input), use);
  return call.open(input).then((request) => sendEncoded(call, request, use));
}

function sendEncoded<Data>(
  call: Call<never, Data>,
  request: EncodedRequest,
  { needs, internal, check }: ResponseUse,
): Promise<Found<Data>> {
  const { repeat } = call.endpoint;
  if (repeat !== "safe" && repeat !== "idempotent") return createOnce(call, request, undefined, { check });
  return sendWithRetries(call, request, (arrival) => call.read(arrival, needs), { internal, check });
}

/** Waits for a part of a call, and adds its steps to the timeline of the call, also in an error. */
export async function join<Data>(call: Call, part: ApiCall<Data>): Promise<CallResult<Data>> {
  const began = call.scope.elapsed();
  try {
    const result = await part.withResponse();
    call.addSteps(result.timeline, began);
    return result;
  } catch (error) {
    if (error instanceof PodPartnerError) {
      call.addSteps(error.timeline, began);
      error.timeline = call.timeline;
    }
    throw error;
  }
}
