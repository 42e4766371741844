import type { TimelineEntry } from "../errors/base.ts";
import { type CallSite, captureCallSite } from "../errors/call-site.ts";
import { type ResponseHead, responseOf } from "../util/response-head.ts";
import { Call, type Core, type Found } from "./call.ts";
import { unexpected } from "./connection-errors.ts";
import { createOnce } from "./create-once.ts";
import type { Endpoint, EndpointInput } from "./endpoint.ts";
import type { Pacer, RateLimits } from "./pacing/pacer.ts";
import { noOptions, type RequestOptions } from "./request-options.ts";
import type { Arrival } from "./response.ts";
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

/** Makes an `ApiCall` out of the promise of a call's result. */
function toCall<Data>(result: Promise<CallResult<Data>>, pacer: Pick<Pacer, "rateLimits">): ApiCall<Data> {
  const data = result.then((all) => all.data);
  return Object.assign(data, {
    withResponse: () => {
      // The returned promise reports a failure. The promise of the data alone must not report it as unhandled.
      data.catch(() => undefined);
      return result.then(({ response, ...all }) => ({
        ...all,
        response: responseOf(response),
        rateLimits: pacer.rateLimits(),
      }));
    },
  });
}

/**
 * Sends one request, and again as its endpoint allows. Most methods of the resources are no more than this.
 *
 * @param own The SDK sends the request for its own use: its response must match the schema even with `responses: "report"`, and the retry
 * budget does not limit it.
 */
export type Send = <Input extends EndpointInput, Data>(
  endpoint: Endpoint<Input, Data>,
  input: Input,
  options?: RequestOptions,
  own?: boolean,
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

/** Carries out a call, and shows it in the traces and in the log. */
async function followed<T>(call: Call, carryOut: () => Promise<T>): Promise<T> {
  const { tracing, observer } = call.core;
  if (!observer.logs && !tracing.follows("call")) return carryOut();
  const trace = call.traceOf("call");
  const carryOutAndLog = async () => {
    try {
      return await carryOut();
    } catch (error) {
      trace.error = error;
      throw error;
    } finally {
      trace.status = call.status;
      observer.logCall(trace, call.recorder.entries, call.scope.elapsed());
    }
  };
  return tracing.run(trace, carryOutAndLog);
}

/** Makes the functions that the resources receive, and no other part of the client. */
export function createSend(core: Core): { readonly send: Send; readonly start: Start; readonly run: Run } {
  const runFrom = async <Input extends EndpointInput, Data, Result>(
    callSite: CallSite,
    endpoint: Endpoint<Input, Data>,
    options: RequestOptions,
    work: (call: Call<Input, Data>) => Promise<Result>,
  ): Promise<Result> => {
    let call: Call<Input, Data>;
    try {
      call = new Call(core, endpoint, options, callSite);
    } catch (error) {
      // The `addEventListener` of a polyfilled signal can throw.
      throw unexpected(error, core.redact);
    }
    return followed(call, async () => {
      let failed = true;
      try {
        const result = await work(call);
        failed = false;
        return result;
      } catch (error) {
        throw call.complete(error);
      } finally {
        call.close(failed);
      }
    });
  };

  const run: Run = (endpoint, options = noOptions, work) => runFrom(captureCallSite(run), endpoint, options, work);

  const start: Start = (endpoint, options = noOptions, work) => {
    const result = runFrom(captureCallSite(start), endpoint, options, async (call) => {
      const { data, response } = await work(call);
      return { data, response, callId: call.id, timeline: call.recorder.entries };
    });
    return toCall(result, core.pacer);
  };

  const send: Send = (endpoint, input, options, own) =>
    start(endpoint, options, (call) => sendAndRead(call, input, own));

  return { send, start, run };
}

/** Sends the one request of a call, again as its endpoint allows, and reads the response. */
export async function sendAndRead<Input extends EndpointInput, Data>(
  call: Call<Input, Data>,
  input: Input,
  own = false,
): Promise<Found<Data>> {
  const { core, endpoint } = call;
  const { repeat, request: shape, response } = endpoint;
  const request = shape.kind === "image" ? await call.open(input) : call.encode(input);
  if (repeat !== "safe" && repeat !== "idempotent") return createOnce(call, request);
  const files = response.kind === "binary" ? core.files : undefined;
  const read = (arrival: Arrival) => call.read(arrival, own ? "throw" : undefined);
  if (files === undefined) return sendWithRetries(call, request, read, own);
  return read(await files.get(call, request, (sent) => sendWithRetries(call, sent, (arrival) => arrival, own)));
}
