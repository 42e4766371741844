import { isConfirmedMissing } from "../errors/api.ts";
import type { TimelineEntry } from "../errors/base.ts";
import { safely } from "../util/foreign.ts";
import { builtIn } from "../util/runtime.ts";
import type { Method } from "./endpoint.ts";

/**
 * A call or one step of it, as tracers see it. The object is the same at the start and at the end; `status`, `policy`, `reason`, `outcome` and
 * `error` are known at the end. It has no header, no body, no query and no reference.
 */
export interface CallTrace {
  /** `call`, or the step: the same as in a timeline. */
  readonly kind: "call" | TimelineEntry["step"];
  /** The same in all events of one call: your own, or one that the SDK made. */
  readonly callId: string;
  /** The endpoint as the specification writes it, for example `GET /orders/{orderReference}`. */
  readonly endpoint: string;
  readonly method: Method;
  /** The path as the specification writes it; undefined for `partner.request`, whose path can contain anything. */
  readonly template: string | undefined;
  /** The client's `baseUrl`. */
  readonly baseUrl: string;
  /** Whether the SDK makes the call for another one, for example to look up an order. */
  readonly isPart: boolean;
  /** Of an attempt: 1 for the first. */
  readonly attempt?: number | undefined;
  /** The HTTP status of an attempt, and of a call's last attempt; undefined without a response. */
  status?: number | undefined;
  /** Of a wait in the queue: the rate-limit policy, and why the call waited, if it was longer than 300 ms. */
  policy?: string | undefined;
  reason?: string | undefined;
  /** Of a step: what the timeline shows. */
  outcome?: string | undefined;
  /** What was thrown. */
  error?: unknown;
}

/** What a call or a step failed with. A look-up that the SDK makes and that finds nothing has not failed: the order is not there yet. */
export const failureIn = ({ isPart, error }: CallTrace): unknown =>
  isPart && isConfirmedMissing(error) ? undefined : error;

/**
 * Runs the work of a call or a step, for example inside a span: at once, in the same turn of the event loop. `url` is the address of an
 * attempt's request.
 */
export type CallTracer = (trace: CallTrace, work: () => Promise<unknown>, url: string | undefined) => unknown;

/** The kinds with a tracing channel. */
const traced = ["call", "attempt"] as const;

type TracingChannel = ReturnType<typeof import("node:diagnostics_channel").tracingChannel<unknown, CallTrace>>;

/** True if any of the five channels has a subscriber. A tracing channel's own `hasSubscribers` is not on every platform. */
const isHeard = ({ start, end, asyncStart, asyncEnd, error }: TracingChannel): boolean =>
  start.hasSubscribers ||
  end.hasSubscribers ||
  asyncStart.hasSubscribers ||
  asyncEnd.hasSubscribers ||
  error.hasSubscribers;

/**
 * Publishes the work on a tracing channel. The channel's own `tracePromise` would publish the result, too: an order with its address, or an
 * upload.
 */
function publish<T>(
  { start, end, asyncStart, asyncEnd, error }: TracingChannel,
  trace: CallTrace,
  work: () => Promise<T>,
) {
  // A copy: a subscriber may freeze or change it.
  const shown = { ...trace };
  const settled = (failed: boolean) => {
    safely(
      () => Object.assign(shown, trace),
      () => undefined,
    );
    if (failed) error.publish(shown);
    asyncStart.publish(shown);
    asyncEnd.publish(shown);
  };
  return start.runStores(shown, () => {
    const result = work().then(
      (value) => {
        settled(false);
        return value;
      },
      (thrown: unknown) => {
        settled(true);
        throw thrown;
      },
    );
    end.publish(shown);
    return result;
  });
}

/** Runs the work in a tracer, once. The result is that of the work, whatever the tracer throws or returns. */
function inTracer<T>(tracer: CallTracer, trace: CallTrace, work: () => Promise<T>, url: string | undefined) {
  let result: Promise<T> | undefined;
  const once = () => {
    result ??= work();
    return result;
  };
  safely(
    () => tracer(trace, once, url),
    () => undefined,
  );
  return once();
}

/** Publishes calls and attempts on tracing channels, and runs calls and all their steps in tracers. */
export class Tracing {
  readonly #channels: ReadonlyMap<CallTrace["kind"], TracingChannel>;
  readonly #tracers = new Set<CallTracer>();

  constructor() {
    const channels = builtIn("node:diagnostics_channel");
    const open = (kind: (typeof traced)[number]) =>
      // Not every runtime has tracing channels.
      channels?.tracingChannel && ([kind, channels.tracingChannel<CallTrace>(`pod-partner:${kind}`)] as const);
    this.#channels = new Map(traced.map(open).filter((channel) => channel !== undefined));
  }

  /** Adds a tracer. Returns a function that removes it. */
  follow(tracer: CallTracer): () => void {
    this.#tracers.add(tracer);
    return () => void this.#tracers.delete(tracer);
  }

  /** Runs the work of a call or a step in the tracers, and publishes it on its tracing channel. */
  run<T>(trace: CallTrace, work: () => Promise<T>, url?: string): Promise<T> {
    const channel = this.#channels.get(trace.kind);
    let all = work;
    for (const tracer of this.#tracers) {
      const inner = all;
      all = () => inTracer(tracer, trace, inner, url);
    }
    return channel !== undefined && isHeard(channel) ? publish(channel, trace, all) : all();
  }
}
