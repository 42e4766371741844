import type { Download } from "../../binary/download.ts";
import { NotReadyError } from "../../errors/api.ts";
import { attachCall } from "../../errors/base.ts";
import { type CallSite, captureCallSite, framesOf, withCallSite } from "../../errors/call-site.ts";
import { DeadlineError } from "../../errors/connection.ts";
import { RenderFailedError, WaitTimeoutError } from "../../errors/waiting.ts";
import { type ApiCall, type CallResult, toCall } from "../../http/call/call.ts";
import { CancelScope } from "../../http/call/cancel-scope.ts";
import { TimelineRecorder } from "../../http/call/timeline-recorder.ts";
import { assertOptions } from "../../http/endpoint/check-options.ts";
import { type Endpoint, nameOf } from "../../http/endpoint/endpoint.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import type { RenderReference } from "../../references/references.ts";
import { isRecord } from "../../schemas/type-guards.ts";
import type { CallContext } from "../../waiting/call-context.ts";
import { type Look, poll } from "../../waiting/poll.ts";
import { getRender } from "./renders.endpoints.ts";
import type { Render } from "./renders.schema.ts";

/** How to wait for a render. `deadline` bounds the wait as a whole. */
export interface WaitOptions extends RequestOptions {
  /** Milliseconds for the wait as a whole. Default: the client's `deadline`; 600 000 where it has none. */
  readonly deadline?: number | undefined;
  /** Milliseconds between two looks at the status. Default 60 000, the interval of the specification (8). */
  readonly interval?: number | undefined;
  /** Called after each look that found the render pending, with the milliseconds waited so far. */
  readonly onPending?: ((render: Render, waited: number) => void) | undefined;
}

/** Options of a render's file. */
export interface RenderFileOptions extends RequestOptions {
  /**
   * Whether to wait for a file that is not ready: `true`, or how to wait. Default false: such a file is a `NotReadyError`.
   *
   * With it, `deadline` bounds the wait as a whole. Default: the client's `deadline`; 600 000 where it has none.
   */
  readonly wait?: boolean | Omit<WaitOptions, keyof RequestOptions> | undefined;
}

const defaults = { deadline: 600_000, interval: 60_000 };
/** Milliseconds before asking again for a file whose answer does not say when. */
const unsaid = 5_000;
/** Never asked for more often than this, whatever the answer says: a `Retry-After: 0` shall not empty the `downloads` bucket. */
const shortest = 1_000;

/** Runs a wait within its deadline, which ends it as `WaitTimeoutError`; its errors tell of every look. */
async function waiting<T>(
  { clock, deadline: ofClient = defaults.deadline }: CallContext,
  reference: RenderReference,
  endpoint: Endpoint,
  options: WaitOptions,
  callSite: CallSite,
  look: (scope: CancelScope) => Promise<Look<Seen<T>>>,
): Promise<CallResult<T>> {
  assertOptions("wait", options, nameOf(endpoint));
  const { signal, deadline = ofClient } = options;
  const recorder = new TimelineRecorder(clock);
  const scope = new CancelScope(clock, signal, deadline);
  try {
    scope.check();
    const { data, response } = await poll(scope, recorder, () => look(scope));
    return { data, response, timeline: recorder.entries };
  } catch (error) {
    const ended =
      error instanceof DeadlineError
        ? new WaitTimeoutError({ reference, waited: scope.elapsed(), cause: error })
        : error;
    if (ended instanceof WaitTimeoutError || ended instanceof RenderFailedError) {
      attachCall(ended, { endpoint: nameOf(endpoint), timeline: recorder.entries, callSite: framesOf(callSite) });
    }
    throw withCallSite(ended, callSite);
  } finally {
    scope.close();
  }
}

/** What a look has seen, and the response that told it. */
type Seen<T> = Pick<CallResult<T>, "data" | "response">;

const within = (scope: CancelScope, { interval, onPending, ...options }: WaitOptions): RequestOptions => ({
  ...options,
  deadline: Math.max(1, scope.remaining()),
});

/** What `onPending` throws ends the wait; so does what it rejects with, when it is asynchronous. */
const tellPending = (scope: CancelScope, { onPending }: WaitOptions, render: Render): Promise<void> | undefined =>
  onPending && scope.within(Promise.resolve(onPending(render, scope.elapsed())));

/** With `responses: "report"` a render can be any value, such as null. The next look-up follows when it has no status. */
const statusOf = (render: unknown): unknown => (isRecord(render) ? render.status : undefined);

/** Reads a render's status. */
export type GetRender = (reference: RenderReference, options: RequestOptions) => ApiCall<Render>;

/** Looks at a render's status until it is completed. */
export function waitForRender(
  context: CallContext,
  get: GetRender,
  reference: RenderReference,
  options: WaitOptions,
): ApiCall<Render> {
  const waited = waiting(context, reference, getRender, options, captureCallSite(waitForRender), async (scope) => {
    const seen = await get(reference, within(scope, options)).withResponse();
    const render = seen.data;
    const status = statusOf(render);
    if (status === "completed") return { done: true, value: seen };
    if (status === "failed") throw new RenderFailedError({ reference });
    await tellPending(scope, options, render);
    return { done: false, wait: options.interval ?? defaults.interval };
  });
  return toCall(waited, context.pacer);
}

/** Asks for a file until it is there, as often as the answers' `Retry-After` says; meanwhile notices a render that failed. */
export function waitForFile(
  context: CallContext,
  get: GetRender,
  endpoint: Endpoint,
  download: (options: RequestOptions) => ApiCall<Download>,
  reference: RenderReference,
  options: WaitOptions,
): ApiCall<Download> {
  let lookAt = 0;
  const waited = waiting(context, reference, endpoint, options, captureCallSite(waitForFile), async (scope) => {
    try {
      return { done: true, value: await download(within(scope, options)).withResponse() };
    } catch (error) {
      if (!(error instanceof NotReadyError)) throw error;
      if (scope.elapsed() >= lookAt) {
        const render = await get(reference, within(scope, options));
        if (statusOf(render) === "failed") throw new RenderFailedError({ reference });
        await tellPending(scope, options, render);
        lookAt = scope.elapsed() + (options.interval ?? defaults.interval);
      }
      return { done: false, wait: Math.max(error.retryAfter ?? unsaid, shortest) };
    }
  });
  return toCall(waited, context.pacer);
}
