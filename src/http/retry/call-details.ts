import type { CancelScope } from "../call/cancel-scope.ts";
import type { Core } from "../call/core.ts";
import type { TimelineRecorder } from "../call/timeline-recorder.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { RequestOptions, RetryOptions } from "../endpoint/request-options.ts";

/** What the attempts and the look-ups of a call need to know of it. */
export interface CallDetails {
  readonly core: Core;
  readonly endpoint: Endpoint<never, unknown>;
  /** The endpoint as errors and events name it. */
  readonly name: string;
  readonly options: RequestOptions;
  /** Milliseconds for each attempt. */
  readonly timeout: number;
  readonly retry: RetryOptions;
  readonly scope: CancelScope;
  readonly recorder: TimelineRecorder;
  /** Adds the call's endpoint, timeline and call site to an error. */
  readonly complete: (error: unknown) => unknown;
}
