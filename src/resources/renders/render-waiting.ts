import * as z from "zod/mini";
import type { Download } from "../../binary/download.ts";
import { ApiError, hasErrorObject, NotFoundError, NotReadyError } from "../../errors/api.ts";
import { DeadlineError } from "../../errors/connection.ts";
import { RenderFailedError, WaitTimeoutError } from "../../errors/renders.ts";
import { type Issue, ResponseValidationError } from "../../errors/validation.ts";
import type { Call, Found } from "../../http/call.ts";
import { type Endpoint, type EndpointInput, nameOf } from "../../http/endpoint.ts";
import { checkedOptions, custom, type RequestOptions, withRequestOptions } from "../../http/request-options.ts";
import { parseRetryAfter, type ResponseUse } from "../../http/response.ts";
import { type ApiCall, type CallContext, sendAndRead, type WithResponse } from "../../http/send.ts";
import type { RenderReference } from "../../references/references.ts";
import { dateOf } from "../../util/clock.ts";
import { splitFields, withFields } from "../../util/fields.ts";
import { isFunction } from "../../util/foreign.ts";
import { getRender, type getRenderMedia, type Render } from "./renders.endpoints.ts";

/** Options of {@link RendersResource.wait}. `deadline` limits the whole wait. */
export interface WaitOptions extends RequestOptions {
  /** Milliseconds for the whole wait. Default: the client's `deadline`; without one, 600 000. */
  readonly deadline?: number | undefined;
  /**
   * Milliseconds between two reads of the status. Default: the service's `Retry-After`, at most 60 000, or 60 000 without one: the interval of
   * the specification (8). A shorter interval is allowed, with one warning.
   */
  readonly interval?: number | undefined;
  /** Called after each read that finds the render pending, with the milliseconds since the start of the wait. */
  readonly onPending?: ((render: Render, waited: number) => void) | undefined;
}

export const waitingOptions = () => ({
  interval: z.optional(z.number().check(z.positive({ error: "expected a number of milliseconds above 0" }))),
  onPending: custom(isFunction, "expected a function"),
});

const waitOptions = withRequestOptions(waitingOptions);

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

/** Defaults in milliseconds: for the whole wait, and between two reads of the status. */
export const defaults = { deadline: 600_000, interval: 60_000 };
/** Milliseconds before the next request for a file if the response has no `Retry-After`. */
const defaultRetryAfter = 5_000;
/** Minimum milliseconds between two requests. Without it, `Retry-After: 0` would use up the `downloads` limit. */
const minRetry = 1_000;

/** Sends one request of a wait. */
type SendPart = <Input extends EndpointInput, Data>(
  endpoint: Endpoint<Input, Data>,
  input: Input,
  options: RequestOptions,
  use?: ResponseUse,
) => Promise<WithResponse<Data>>;

/** Lets a batch send and observe the requests of the wait for one of its renders. */
export interface Watch {
  readonly send: SendPart;
  /** Whether the render is so new that the service may not show it yet. Then a 404 does not end the wait. */
  readonly isNew: () => boolean;
  /** Called before each pause, with its milliseconds. Returns how long it is to last. */
  readonly waits: (ms: number) => number;
  /** Whether a pending render ends the wait for its status, so that the batch decides how to wait for it. */
  readonly asksOnce: () => boolean;
  /** Called with each record that was read. */
  readonly saw: (render: Render) => void;
}

/** The result of a look-up with its response, or the milliseconds to wait before the next look-up. */
type PollResult<T> = Found<T> | { readonly wait: number };

/** Repeats a look-up until it has the result. The end of the deadline becomes a `WaitTimeoutError`, whose timeline has every look-up. */
const waiting = <T>(
  { start, deadline: ofClient = defaults.deadline }: CallContext,
  reference: RenderReference,
  endpoint: Endpoint,
  options: WaitOptions,
  watch: Watch | undefined,
  look: (call: Call, isLast: boolean) => Promise<PollResult<T>>,
): ApiCall<T> => {
  const [, request] = splitFields(options, "interval", "onPending");
  const limited = withFields(request, (fields) => Object.assign(fields, { deadline: fields.deadline ?? ofClient }));
  return start(endpoint, limited, async (call) => {
    checkedOptions(waitOptions, options, call.name);
    try {
      for (let last = false; ; ) {
        const seen = await call.step("lookup", async (trace) => {
          const seen = await look(call, last).catch((error: unknown) => {
            if (!(error instanceof NotFoundError) || !watch?.isNew()) throw error;
            if (!last) return { wait: defaultRetryAfter };
            throw new WaitTimeoutError({ reference, waited: Math.round(call.scope.elapsed()), cause: error });
          });
          trace.outcome = "data" in seen ? "done" : "pending";
          return seen;
        });
        if ("data" in seen) return seen;
        if (last) throw new DeadlineError({ message: "The deadline ended before the result was available." });
        const pause = watch?.waits(seen.wait) ?? seen.wait;
        last = await call.step("poll", (trace) => {
          trace.outcome = "waited";
          return call.scope.sleepBeforeLook(pause);
        });
      }
    } catch (error) {
      if (!(error instanceof DeadlineError) || error instanceof WaitTimeoutError) throw error;
      throw new WaitTimeoutError({ reference, waited: limited.deadline ?? ofClient, cause: error });
    }
  });
};

/** Sends the requests of a wait. */
const senderOf = ({ send }: CallContext, watch: Watch | undefined): SendPart =>
  watch?.send ?? ((...request) => send(...request).withResponse());

/** The options of one look-up, including the headers and the query of the call. */
const partOptions = (call: Call): RequestOptions => ({ ...call.options, ...call.partOptions() });

/** Calls `onPending`. If it throws or rejects, the wait ends with that error. */
async function reportPending({ scope }: Call, { onPending }: WaitOptions, render: Render): Promise<void> {
  if (onPending === undefined) return;
  try {
    await scope.within(Promise.resolve(onPending(render, scope.elapsed())));
  } catch (error) {
    // So the call throws it unchanged.
    scope.end(error);
    throw error;
  }
}

/** The wait uses only the status of a render. */
const needsStatus = { needs: ["status"] };

/** Returns the render, or throws if it is another one than was asked for: its picture would be taken for that of this one. */
function asked({ data, response }: Found<Render>, renderReference: RenderReference): Render {
  // With `responses: "report"` it may be missing.
  if ((data.reference ?? renderReference) === renderReference) return data;
  const issues = [
    { path: ["render", "reference"], message: `is not the render that was asked for, ${renderReference}` },
  ];
  const { status } = response;
  throw new ResponseValidationError({
    endpoint: nameOf(getRender),
    issues,
    response: { status, headers: {}, body: data },
  });
}

/** Reads the status of a render until it is completed, at the times of `Retry-After`, or once in each interval. In a batch perhaps only once. */
export function waitForRender(
  context: CallContext,
  renderReference: RenderReference,
  options: WaitOptions,
  watch?: Watch,
): ApiCall<Render> {
  const send = senderOf(context, watch);
  return waiting(context, renderReference, getRender, options, watch, async (call) => {
    if (options.interval !== undefined && options.interval < defaults.interval) {
      const text = `renders.wait reads the status every ${options.interval} ms. The specification asks for 60 seconds between two reads (part 8).`;
      context.observer.warnOnce("POD_PARTNER_SHORT_INTERVAL", text);
    }
    const seen = await send(getRender, { path: { renderReference } }, partOptions(call), needsStatus);
    const render = asked(seen, renderReference);
    watch?.saw(render);
    const status = render.status;
    if (status === "completed") return seen;
    if (status === "failed") throw new RenderFailedError({ reference: renderReference });
    await reportPending(call, options, render);
    if (watch?.asksOnce()) return seen;
    const said = parseRetryAfter(seen.response.headers, dateOf(context.clock)) ?? defaults.interval;
    return { wait: options.interval ?? Math.min(Math.max(said, minRetry), defaults.interval) };
  });
}

/**
 * Turns the error of a refused file into a `RenderFailedError` if it says that the render failed. The code is an assumption: the
 * specification does not show the response for the file of a failed render.
 */
export const renderFailure = (error: unknown, reference: RenderReference): unknown =>
  hasErrorObject(error) && error.code === "render_failed" ? new RenderFailedError({ reference, cause: error }) : error;

/** Statuses that say nothing about the render, but about a cache, the key, its permissions or the limits. */
const unrelated: readonly number[] = [304, 401, 403, 429];

/** Whether the service refused a file for a reason that may be its render. The specification does not show the response of a failed one. */
export const isRefusedFile = (error: unknown): boolean =>
  (error instanceof ApiError || error instanceof ResponseValidationError) && !unrelated.includes(error.status);

/** Requests a file once. */
export function getFile(
  { start }: CallContext,
  endpoint: typeof getRenderMedia,
  renderReference: RenderReference,
  faults: readonly Issue[],
  options: RequestOptions,
): ApiCall<Download> {
  return start(endpoint, options, async (call) => {
    try {
      return await sendAndRead(call, { path: { renderReference }, faults });
    } catch (error) {
      throw renderFailure(error, renderReference);
    }
  });
}

/**
 * Requests a file until it is ready, at the times of `Retry-After`. Meanwhile it reads the status after each interval and at the end, which
 * shows whether the render failed or is completed. When the file is refused, one read of the status decides.
 */
export function waitForFile(
  context: CallContext,
  endpoint: typeof getRenderMedia,
  renderReference: RenderReference,
  options: WaitOptions,
  watch?: Watch,
): ApiCall<Download> {
  const send = senderOf(context, watch);
  const path = { renderReference };
  const { interval = defaults.interval } = options;
  /** When the status is read next, in milliseconds since the call began. */
  let statusAt = interval;
  /** The latest response that asked for a later request. */
  let pending: NotReadyError | undefined;
  /** Reads the status after a response that is not the file. Throws if it shows that the render failed. */
  const readStatus = async (call: Call, refusal: unknown) => {
    const isPending = refusal instanceof NotReadyError;
    const seen = await send(getRender, { path }, partOptions(call), needsStatus).catch((error: unknown) => {
      // The service refuses both requests: the first error says more.
      throw isPending || !(error instanceof ApiError) ? error : refusal;
    });
    const render = asked(seen, renderReference);
    watch?.saw(render);
    const status = render.status;
    if (status === "failed") throw new RenderFailedError({ reference: renderReference });
    // It may have been completed since.
    if (isPending && status !== "completed") await reportPending(call, options, render);
    statusAt = call.scope.elapsed() + interval;
    return status;
  };
  return waiting(context, renderReference, endpoint, options, watch, async (call, isLast) => {
    // The deadline ends before the time of `Retry-After`: only the status can be read now.
    if (isLast && pending !== undefined) {
      const status = await readStatus(call, pending);
      if (status !== "completed") return { wait: 0 };
    }
    try {
      return await send(endpoint, { path }, partOptions(call));
    } catch (refused) {
      const error = renderFailure(refused, renderReference);
      if (!isRefusedFile(error)) throw error;
      const isPending = error instanceof NotReadyError;
      if (!isPending || isLast || call.scope.elapsed() >= statusAt) await readStatus(call, error);
      // The render has not failed.
      if (!isPending) throw error;
      pending = error;
      return { wait: Math.max(error.retryAfter ?? defaultRetryAfter, minRetry) };
    }
  });
}
