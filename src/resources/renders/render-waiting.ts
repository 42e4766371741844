import type { Download } from "../../binary/download.ts";
import { ApiError, NotReadyError } from "../../errors/api.ts";
import { DeadlineError } from "../../errors/connection.ts";
import { RenderFailedError, WaitTimeoutError } from "../../errors/renders.ts";
import { ResponseValidationError } from "../../errors/validation.ts";
import type { Call } from "../../http/call.ts";
import type { CallContext } from "../../http/call-context.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { assertOptions, type RequestOptions } from "../../http/request-options.ts";
import { parseRetryAfter } from "../../http/response.ts";
import type { ApiCall, CallResult } from "../../http/send.ts";
import type { RenderReference } from "../../references/references.ts";
import { splitFields, withFields } from "../../util/fields.ts";
import { isRecord } from "../../util/foreign.ts";
import { getRender, type Render } from "./renders.endpoints.ts";

/** Options of {@link RendersResource.wait}. `deadline` limits the whole wait. */
export interface WaitOptions extends RequestOptions {
  /** Milliseconds for the whole wait. Default: the client's `deadline`; without one, 600 000. */
  readonly deadline?: number | undefined;
  /**
   * Milliseconds between two look-ups of the status. Default: what the service says in `Retry-After`, and at most 60 000, the interval
   * of the specification (8).
   */
  readonly interval?: number | undefined;
  /** Is called after each look-up that finds the render pending, with the milliseconds since the start of the wait. */
  readonly onPending?: ((render: Render, waited: number) => void) | undefined;
}

/** Options of {@link RendersResource.media} and {@link RendersResource.thumbnail}. */
export interface RenderFileOptions extends RequestOptions {
  /**
   * Whether to wait for a file that is not ready: `true`, or an object with wait options. Default false: a file that is not ready throws
   * `NotReadyError`.
   *
   * With `wait`, `deadline` limits the whole wait in milliseconds. Default: the client's `deadline`; without one, 600 000.
   */
  readonly wait?: boolean | Omit<WaitOptions, keyof RequestOptions> | undefined;
}

const defaults = { deadline: 600_000, interval: 60_000 };
/** Milliseconds before the next request for a file if the response has no `Retry-After`. */
const unsaid = 5_000;
/** Minimum milliseconds between two requests. Without it, `Retry-After: 0` would use up the `downloads` limit. */
const shortest = 1_000;

/** Runs a wait. The end of its deadline becomes a `WaitTimeoutError`. The timeline of an error has every look-up. */
const waiting = <T>(
  { start, deadline: ofClient = defaults.deadline }: CallContext,
  reference: RenderReference,
  endpoint: Endpoint,
  options: WaitOptions,
  look: (call: Call) => Promise<Look<Seen<T>>>,
): ApiCall<T> => {
  const [, request] = splitFields(options, "interval", "onPending");
  const limited = withFields(request, (fields) => ({ ...fields, deadline: fields.deadline ?? ofClient }));
  return start(endpoint, limited, async (call) => {
    assertOptions("wait", options, call.name);
    try {
      call.scope.check();
      return await poll(call, look);
    } catch (error) {
      if (!(error instanceof DeadlineError)) throw error;
      throw new WaitTimeoutError({ reference, waited: limited.deadline ?? ofClient, cause: error });
    }
  });
};

/** The data of a look-up and its response. */
type Seen<T> = Pick<CallResult<T>, "data" | "response">;

/** The options of one look-up: those of the call, also its own headers and query. */
const partOptions = (call: Call): RequestOptions => ({ ...call.options, ...call.partOptions() });

/** Calls `onPending`. An error that it throws, or rejects with, ends the wait. */
async function tellPending({ scope }: Call, { onPending }: WaitOptions, render: Render): Promise<void> {
  if (onPending === undefined) return;
  try {
    await scope.within(Promise.resolve(onPending(render, scope.elapsed())));
  } catch (error) {
    // So it is thrown as it is.
    scope.end(error);
    throw error;
  }
}

/** Reads the status. With `responses: "report"` a render can be any value, such as null; without a status the wait continues. */
export const statusOf = (render: unknown): unknown => (isRecord(render) ? render.status : undefined);

/** Reads a render's status. */
export type GetRender = (reference: RenderReference, options: RequestOptions) => ApiCall<Render>;

/** Polls the status of a render until it is completed, at the times that `Retry-After` gives, or else once in each interval. */
export function waitForRender(
  context: CallContext,
  get: GetRender,
  reference: RenderReference,
  options: WaitOptions,
): ApiCall<Render> {
  return waiting(context, reference, getRender, options, async (call) => {
    const seen = await get(reference, partOptions(call)).withResponse();
    const render = seen.data;
    const status = statusOf(render);
    if (status === "completed") return { done: true, value: seen };
    if (status === "failed") throw new RenderFailedError({ reference });
    await tellPending(call, options, render);
    const said = parseRetryAfter(seen.response.headers, context.clock.now()) ?? defaults.interval;
    return { done: false, wait: options.interval ?? Math.min(Math.max(said, shortest), defaults.interval) };
  });
}

/** Statuses that say nothing about a render: of the cache, the key, its permissions and the limits. */
const unrelated: readonly number[] = [304, 401, 403, 429];

/**
 * Whether the service refused a file for a reason that may lie in its render. The specification does not show what a failed render's file
 * gives.
 */
export const isRefusedFile = (error: unknown): boolean =>
  (error instanceof ApiError || error instanceof ResponseValidationError) && !unrelated.includes(error.status);

/**
 * Requests a file until it is ready, at the times that `Retry-After` gives. While it is not ready, and when it is refused, the status shows
 * whether the render failed; it is read once in each interval.
 */
export function waitForFile(
  context: CallContext,
  get: GetRender,
  endpoint: Endpoint,
  download: (options: RequestOptions) => ApiCall<Download>,
  reference: RenderReference,
  options: WaitOptions,
): ApiCall<Download> {
  let statusAt = 0;
  return waiting(context, reference, endpoint, options, async (call) => {
    const { scope } = call;
    try {
      return { done: true, value: await download(partOptions(call)).withResponse() };
    } catch (error) {
      if (!isRefusedFile(error)) throw error;
      const pending = error instanceof NotReadyError ? error : undefined;
      const untilStatus = statusAt - scope.elapsed();
      if (untilStatus <= 0) {
        const render = await get(reference, partOptions(call)).catch((cause: unknown) => {
          // The service refuses both.
          throw pending === undefined && cause instanceof ApiError ? error : cause;
        });
        if (statusOf(render) === "failed") throw new RenderFailedError({ reference });
        if (pending === undefined) throw error;
        await tellPending(call, options, render);
        statusAt = scope.elapsed() + (options.interval ?? defaults.interval);
      } else if (pending === undefined) {
        if (untilStatus >= scope.remaining()) throw error;
        return { done: false, wait: untilStatus };
      }
      return { done: false, wait: Math.max(pending?.retryAfter ?? unsaid, shortest) };
    }
  });
}

/** The result of one look-up: the final value, or the milliseconds to wait before the next look-up. */
export type Look<T> = { readonly done: true; readonly value: T } | { readonly done: false; readonly wait: number };

/**
 * Repeats a look-up until it is done or the call ends.
 *
 * @throws `DeadlineError` if the deadline ends first.
 */
async function poll<T>(call: Call, look: (call: Call) => Promise<Look<T>>): Promise<T> {
  for (let last = false; ; ) {
    const seen = await call.step("lookup", async (trace) => {
      const seen = await look(call);
      trace.outcome = seen.done ? "done" : "pending";
      return seen;
    });
    if (seen.done) return seen.value;
    if (last) throw new DeadlineError({ message: "The deadline ended before the result was available." });
    last = await call.step("poll", (trace) => {
      trace.outcome = "waited";
      return call.scope.sleepBeforeLook(seen.wait);
    });
  }
}
