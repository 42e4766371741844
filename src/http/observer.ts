import type { TimelineEntry } from "../errors/base.ts";
import { PodPartnerError } from "../errors/base.ts";
import { firstIssues, type Issue } from "../errors/validation.ts";
import { placeOf } from "../schemas/shape.ts";
import { endingOf, safely, wordsOf } from "../util/foreign.ts";
import { Latest } from "../util/latest.ts";
import { builtIn } from "../util/runtime.ts";
import { inOneLine } from "../util/visible.ts";
import type { Method } from "./endpoint.ts";
import { type Level, type Logger, log } from "./logger.ts";
import type { PauseReason } from "./pacing/wait.ts";

let prefix: string | undefined;
let count = 0;

/** The name of a call: the same random letters for all calls of this process, and a number. */
export function newCallId(): string {
  // At the first call: Workers have no random numbers before that.
  prefix ??= Math.random().toString(36).slice(2, 12);
  count += 1;
  return `${prefix}-${count}`;
}

/** The fields of every event. No event has a header, a body or a query, so that no event contains secret or personal data. */
interface CallEvent {
  /** The same in all events, errors and log lines of one call. */
  readonly callId: string;
  /** The endpoint as the specification writes it, for example `GET /orders/{orderReference}`. */
  readonly endpoint: string;
}

/** A request is about to be sent. */
export interface RequestEvent extends CallEvent {
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** The head of a response has arrived. */
export interface ResponseEvent extends RequestEvent {
  /** The HTTP status. */
  readonly status: number;
  /** Milliseconds since the attempt began. */
  readonly took: number;
}

/** An attempt failed and a retry follows. */
export interface RetryEvent extends RequestEvent {
  /** Milliseconds until the next attempt; a held bucket can make it longer. */
  readonly delay: number;
  /** The name of the error, for example `ServerError`. */
  readonly error: string;
  /** The HTTP status; undefined if no response came. */
  readonly status: number | undefined;
  /** The service's error code (specification 7), if there is one. */
  readonly code: string | undefined;
}

/** A call waits for its turn to be sent. Each wait of more than 300 ms is reported once, with what it waits for then. */
export interface PauseEvent extends CallEvent {
  /** Why it waits. */
  readonly reason: PauseReason;
  /** The rate-limit policy, for example `default` (specification 8). `default`, too, where the reason is none of a policy. */
  readonly policy: string;
  /**
   * The expected milliseconds until its turn, behind all calls that came before it; 0 where nothing is known. A response can end the wait
   * earlier.
   */
  readonly length: number;
}

/**
 * A response does not match the specification. A fault that is not essential is reported once for each endpoint and path, whatever the
 * index of the entry.
 */
export interface InvalidResponseEvent extends CallEvent {
  /** The HTTP status. */
  readonly status: number;
  /** The issues, with their paths: at most 100. */
  readonly issues: readonly Issue[];
  /** Whether the response was returned all the same, because no issue is essential. Otherwise the call failed. */
  readonly returned: boolean;
}

/** A download was canceled at its `timeout` or `deadline` before the caller began to read it. */
export interface UnreadDownloadEvent extends CallEvent {
  /** `RequestTimeoutError` or `DeadlineError`. */
  readonly error: string;
}

/**
 * What processes share, or the storage, cannot be reached. Until it is back, each process paces itself
 * (`pacing.shared`), or the client remembers nothing, and orders, claims and paid renders wait (`storage`, unless `storageLost` is
 * `continue`).
 */
export interface StorageLostEvent {
  /** The option of the client. */
  readonly option: "pacing.shared" | "storage";
  /** The reason: the message of the storage's error, or that it did not respond in time. */
  readonly reason: string;
}

/** A storage can be reached again. */
export type StorageBackEvent = Pick<StorageLostEvent, "option">;

/** Functions that receive events. An error or a rejection of a hook is logged and has no other effect. */
export interface Hooks {
  /** Called before each attempt is sent. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /** Called when the head of a response has arrived, also of an error response. */
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined;
  /** Called when an attempt has failed and a retry follows. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  /** Called for each call that waits for its turn for more than 300 ms, with the reason. */
  readonly onPause?: ((event: PauseEvent) => void) | undefined;
  /** Called when a response breaks its schema: each time when the call fails, and once for each endpoint and path when it does not. */
  readonly onInvalidResponse?: ((event: InvalidResponseEvent) => void) | undefined;
  /**
   * Called when a download is canceled at its `timeout` or `deadline` before the caller began to read it. Without this hook and
   * without a `logger` the process emits a warning, once per endpoint.
   */
  readonly onUnreadDownload?: ((event: UnreadDownloadEvent) => void) | undefined;
  /** Called when a storage becomes unreachable. Without this hook and without a `logger` the process emits a warning. */
  readonly onStorageLost?: ((event: StorageLostEvent) => void) | undefined;
  /** Called when a storage can be reached again. */
  readonly onStorageBack?: ((event: StorageBackEvent) => void) | undefined;
}

type Event<Hook extends keyof Hooks> = Parameters<NonNullable<Hooks[Hook]>>[0];

/** The names of all hooks. */
export const hookNames = [
  "onRequest",
  "onResponse",
  "onRetry",
  "onPause",
  "onInvalidResponse",
  "onUnreadDownload",
  "onStorageLost",
  "onStorageBack",
] as const satisfies readonly (keyof Hooks)[];

const time = (ms: number): string => (ms < 10_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`);

/** The level and the text of an event in the log. What a step or the end of a call shows as well is not among them. */
const lines: { readonly [Hook in keyof Hooks]?: (event: Event<Hook>) => readonly [level: Level, text: string] } = {
  onRetry: ({ endpoint, attempt, error, status, delay }) => [
    "warn",
    `${endpoint} attempt ${attempt} failed (${error}${status === undefined ? "" : ` ${status}`}), again in ${time(delay)}`,
  ],
  onPause: ({ endpoint, reason, policy, length }) => [
    "info",
    `${endpoint} waits for its turn${length > 0 ? `, about ${time(length)}` : ""}: ${reason} (${policy})`,
  ],
  onInvalidResponse: ({ endpoint, status, issues, returned }) => [
    returned ? "warn" : "error",
    `${endpoint} ${status} breaks the specification: ${issues.length === 1 ? "1 issue" : `${issues.length} issues`}`,
  ],
  onUnreadDownload: ({ endpoint, error }) => ["warn", `${endpoint} was not read in time and was canceled (${error})`],
  onStorageLost: ({ option, reason }) => ["warn", `the option \`${option}\` cannot be reached: ${reason}`],
  onStorageBack: ({ option }) => ["info", `the option \`${option}\` can be reached again`],
};

/** How many places of faults are remembered. An older one is reported again. */
const mostPlaces = 2_000;

const warnedOf = new Set<string>();

/** Warns of what a program should know although it has no hook and no logger for it. */
const warnings: Hooks = {
  onStorageLost({ option, reason }) {
    const effect =
      option === "storage" ? "The client remembers nothing, and orders and claims wait" : "This process paces itself";
    const text = `pod-partner: the option \`${option}\` cannot be reached (${inOneLine(reason)}). ${effect} until it is back.`;
    globalThis.process?.emitWarning?.(text, { code: "POD_PARTNER_STORAGE_LOST" });
  },
  onUnreadDownload({ endpoint, error }) {
    if (warnedOf.has(endpoint)) return;
    warnedOf.add(endpoint);
    const text = `pod-partner: the download of ${endpoint} was not read in time and was canceled (${error}). Read it, or call its cancel().`;
    globalThis.process?.emitWarning?.(text, { code: "POD_PARTNER_UNREAD_DOWNLOAD" });
  },
};

/**
 * What is shown of a call, or of one step of it. The object is the same at the start and at the end; `status`, `policy`, `reason`,
 * `outcome` and `error` are known at the end. It has no header, no body, no query and no reference.
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

/**
 * Runs the work of a call or a step, for example inside a span: at once, in the same turn of the event loop. `url` is the address of an
 * attempt's request.
 */
export type CallTracer = (trace: CallTrace, work: () => Promise<unknown>, url: string | undefined) => unknown;

/** What has a tracing channel. */
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

/**
 * Shows what a client does: events to its hooks, calls and attempts to tracing channels, calls and all their steps to tracers, and all of it
 * to the logger.
 */
export class Observer {
  readonly #hooks: Hooks | undefined;
  readonly #logger: Logger | undefined;
  readonly #tracingChannels: ReadonlyMap<CallTrace["kind"], TracingChannel>;
  readonly #tracers = new Set<CallTracer>();
  readonly #warned = new Set<string>();
  /** The places of faults that were reported. */
  readonly #places = new Latest<true>(mostPlaces);

  constructor(hooks: Hooks | undefined, logger: Logger | undefined) {
    this.#hooks = hooks;
    this.#logger = logger;
    const channels = builtIn("node:diagnostics_channel");
    const open = (kind: (typeof traced)[number]) =>
      // Not every runtime has tracing channels.
      channels?.tracingChannel && ([kind, channels.tracingChannel<CallTrace>(`pod-partner:${kind}`)] as const);
    this.#tracingChannels = new Map(traced.map(open).filter((channel) => channel !== undefined));
  }

  observe<Hook extends keyof Hooks>(hook: Hook, event: Event<Hook>): void {
    const line = this.#logger && lines[hook]?.(event);
    if (line !== undefined) log(this.#logger, ...line, event);
    safely(
      () => {
        const hooks = this.#hooks?.[hook] === undefined && this.#logger === undefined ? warnings : this.#hooks;
        // Called as a method: the hooks may be an instance of a class.
        return (hooks?.[hook] as ((event: Event<Hook>) => void) | undefined)?.call(hooks, event);
      },
      (error) => log(this.#logger, "error", `the hook ${hook} threw`, { error: wordsOf(error) }),
    );
  }

  /**
   * Reports the faults of a response: those that the call fails for each time, those of parts that only describe once for each endpoint and
   * place.
   */
  reportInvalid(
    of: Pick<InvalidResponseEvent, "callId" | "endpoint" | "status">,
    thrown: readonly Issue[],
    described: readonly Issue[],
  ): void {
    const isNew = ({ path }: Issue) => {
      const place = `${of.endpoint} ${placeOf(path)}`;
      const known = this.#places.get(place);
      this.#places.set(place, true);
      return known === undefined;
    };
    const issues = [...thrown, ...described.filter(isNew)];
    if (issues.length === 0) return;
    this.observe("onInvalidResponse", { ...of, issues: firstIssues(issues), returned: thrown.length === 0 });
  }

  /** Warns once of what a program should know: in the log, or without one as a warning of the process. */
  warnOnce(code: string, text: string): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    if (this.#logger !== undefined) log(this.#logger, "warn", text, { code });
    else globalThis.process?.emitWarning?.(`pod-partner: ${text}`, { code });
  }

  /** Reports that a call waits for another process with the same storage, or for the storage itself. */
  pausesFor(reason: "other-process" | "storage", callId: string, endpoint: string): void {
    this.observe("onPause", { callId, endpoint, reason, policy: "default", length: 0 });
  }

  /** Adds a tracer. Returns a function that removes it. */
  follow(tracer: CallTracer): () => void {
    this.#tracers.add(tracer);
    return () => void this.#tracers.delete(tracer);
  }

  /** Runs the work of a call or a step in the tracers, and publishes it on its tracing channel. */
  run<T>(trace: CallTrace, work: () => Promise<T>, url?: string): Promise<T> {
    const channel = this.#tracingChannels.get(trace.kind);
    let all = work;
    for (const tracer of this.#tracers) {
      const inner = all;
      all = () => inTracer(tracer, trace, inner, url);
    }
    return channel !== undefined && isHeard(channel) ? publish(channel, trace, all) : all();
  }

  /** Logs a step of a call that has ended. */
  logStep({ kind, callId, endpoint, attempt, policy, reason, outcome }: CallTrace, took: number): void {
    if (this.#logger === undefined) return;
    const step = attempt === undefined ? kind : `attempt ${attempt}`;
    const why = reason === undefined ? "" : ` (${reason})`;
    const text = `${endpoint} ${step}: ${outcome}${why} in ${time(took)}`;
    log(this.#logger, "debug", text, { callId, endpoint, step: kind, attempt, outcome, policy, reason, took });
  }

  /** Logs a call that has ended. A part of another call is a detail. */
  logCall(
    { callId, endpoint, isPart, status, error }: CallTrace,
    timeline: readonly TimelineEntry[],
    took: number,
  ): void {
    if (this.#logger === undefined) return;
    const attempts = timeline.filter(({ step }) => step === "attempt").length;
    const queued = timeline.reduce((sum, entry) => sum + (entry.step === "queue" ? entry.took : 0), 0);
    const details = [
      attempts > 1 ? `${attempts} attempts` : "",
      queued >= 1 ? `${time(queued)} of it in the queue` : "",
    ].filter((detail) => detail !== "");
    const text = [`${error === undefined ? (status ?? "done") : failureOf(error)} in ${time(took)}`, ...details].join(
      ", ",
    );
    const level = error === undefined ? "info" : PodPartnerError.isInstance(error) ? "warn" : "info";
    const { code, docs } = error instanceof PodPartnerError ? error : {};
    log(this.#logger, isPart ? "debug" : level, `${endpoint} ${text}`, {
      callId,
      endpoint,
      status,
      took,
      attempts,
      queued,
      error: error === undefined ? undefined : endingOf(error),
      code,
      docs,
    });
  }
}

/** An error in a line of the log. Its message can quote the caller's data. */
function failureOf(error: unknown): string {
  if (!(error instanceof PodPartnerError)) return "aborted";
  const { name, status, code } = error;
  return `failed: ${[name, status, code].filter((part) => part !== undefined).join(" ")}`;
}
