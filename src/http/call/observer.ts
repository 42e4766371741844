import type { Issue } from "../../errors/validation.ts";
import { wordsOf } from "../../util/foreign.ts";

/** What every event tells: nothing of a header, a body or a query, so that nothing secret or personal is in it. */
interface CallEvent {
  /** The endpoint as the specification writes it, for example `GET /orders/{orderReference}`. */
  readonly endpoint: string;
}

/** A request is about to be sent. */
export interface RequestEvent extends CallEvent {
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** An answer's head has arrived. */
export interface ResponseEvent extends RequestEvent {
  /** The HTTP status. */
  readonly status: number;
  /** Milliseconds since the attempt began. */
  readonly took: number;
}

/** An attempt failed and another follows. */
export interface RetryEvent extends RequestEvent {
  /** Milliseconds until the next attempt; a held bucket may add to it. */
  readonly delay: number;
  /** The name of the error, for example `ServerError`. */
  readonly error: string;
  /** The HTTP status; undefined where no answer came. */
  readonly status: number | undefined;
  /** The service's error code (specification 7), if it gave one. */
  readonly code: string | undefined;
}

/** A call has to wait for a token of a rate-limit bucket. */
export interface PauseEvent extends CallEvent {
  /**
   * `bucket-empty`: no token is left, by the headers so far. `rate-limited`: a 429 holds the policy until its `Retry-After`.
   * `gateway-limit`: a gateway in front of the service refuses with 503 what is too fast, and all calls slow down.
   */
  readonly reason: "bucket-empty" | "rate-limited" | "gateway-limit";
  /** The rate-limit policy, for example `default` (specification 8). */
  readonly policy: string;
  /** Milliseconds until the bucket has its next token; calls before this one may use it. For `gateway-limit`: between two requests. */
  readonly length: number;
}

/** An answer does not have the shape that the specification promises. */
export interface InvalidResponseEvent extends CallEvent {
  /** The HTTP status. */
  readonly status: number;
  /** What is wrong with it, and where. */
  readonly issues: readonly Issue[];
}

/** A download was cancelled at its `timeout` or `deadline` before the caller began to read it. */
export interface UnreadDownloadEvent extends CallEvent {
  /** `RequestTimeoutError` or `DeadlineError`. */
  readonly error: string;
}

/** The store of a fleet's pacing cannot be reached: each process paces itself until it is back. */
export interface StoreLostEvent {
  /** Why: the Redis client's words, or that it did not answer in time. */
  readonly reason: string;
}

/** The store of a fleet's pacing can be reached again. */
export type StoreBackEvent = Readonly<Record<never, never>>;

/** Functions that are told what happens. What they throw, or reject with, is logged and otherwise ignored. */
export interface Hooks {
  /** Called before each attempt is sent. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /** Called when the head of any answer has arrived, an error's too. */
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined;
  /** Called when an attempt has failed and another follows. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  /** Called for each call that has to wait for a token of a rate-limit bucket. */
  readonly onPause?: ((event: PauseEvent) => void) | undefined;
  /** Called when an answer breaks its schema, whether `responses` is `throw` or `report`. */
  readonly onInvalidResponse?: ((event: InvalidResponseEvent) => void) | undefined;
  /**
   * Called when a download is cancelled at its `timeout` or `deadline` before the caller began to read it. Without this hook and
   * without a `logger` the process emits a warning, once per endpoint.
   */
  readonly onUnreadDownload?: ((event: UnreadDownloadEvent) => void) | undefined;
  /** Called when the store of a fleet's pacing cannot be reached any more. Without it and without a `logger` the process warns. */
  readonly onStoreLost?: ((event: StoreLostEvent) => void) | undefined;
  /** Called when that store can be reached again. */
  readonly onStoreBack?: ((event: StoreBackEvent) => void) | undefined;
}

/** Receives the same events as text and fields; `console` fits. A level that it does not have is left out. */
export interface Logger {
  /** Requests and answers. */
  debug?(message: string, fields: object): void;
  /** Pauses, and a pacing store that is back. */
  info?(message: string, fields: object): void;
  /** Retries, unread downloads, and a pacing store that is lost. */
  warn?(message: string, fields: object): void;
  /** Answers that break their schema, and hooks that threw. */
  error?(message: string, fields: object): void;
}

type Level = keyof Logger;
type Event<Hook extends keyof Hooks> = Parameters<NonNullable<Hooks[Hook]>>[0];

const levels: Readonly<Record<keyof Hooks, Level>> = {
  onRequest: "debug",
  onResponse: "debug",
  onRetry: "warn",
  onPause: "info",
  onInvalidResponse: "error",
  onUnreadDownload: "warn",
  onStoreLost: "warn",
  onStoreBack: "info",
};

/** The names of all hooks. */
export const hookNames = Object.keys(levels) as readonly (keyof Hooks)[];

/** The same events on `node:diagnostics_channel`, where there is one, as `pod-partner:request`, `pod-partner:response` and so on. */
const channelName = (hook: keyof Hooks): string =>
  `pod-partner:${hook
    .slice(2)
    .replace(/(?!^)[A-Z]/g, "-$&")
    .toLowerCase()}`;

/** Calls what is a partner's own. Whether it fails at once or, being asynchronous, later: the call goes on, and so does the process. */
function safely(work: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    const result = work();
    if (typeof result === "object" && result !== null) Promise.resolve(result).catch(onFailure);
  } catch (error) {
    onFailure(error);
  }
}

/** A logger that fails has nobody left to tell. */
function log(logger: Logger, level: Level, message: string, fields: object): void {
  safely(
    () => logger[level]?.(message, fields),
    () => undefined,
  );
}

/** Nobody watches, but a fleet that does not share any more should not go unnoticed. */
function warnOfLostStore({ reason }: StoreLostEvent): void {
  const text = `pod-partner: the pacing store cannot be reached (${reason}). This process paces itself until it is back.`;
  globalThis.process?.emitWarning?.(text, { code: "POD_PARTNER_STORE_LOST" });
}

const warnedOf = new Set<string>();

/** An unread download costs a token and a connection until its timeout, and is a mistake of the program. */
function warnOfUnreadDownload({ endpoint, error }: UnreadDownloadEvent): void {
  if (warnedOf.has(endpoint)) return;
  warnedOf.add(endpoint);
  const text = `pod-partner: the download of ${endpoint} was never read and is now cancelled (${error}). Read it or call its cancel().`;
  globalThis.process?.emitWarning?.(text, { code: "POD_PARTNER_UNREAD_DOWNLOAD" });
}

/** Tells an event to whoever watches. */
export type Observe = <Hook extends keyof Hooks>(hook: Hook, event: Event<Hook>) => void;

export function createObserver(hooks: Hooks, logger: Logger | undefined): Observe {
  const channels = globalThis.process?.getBuiltinModule?.("node:diagnostics_channel");
  const channelOf = new Map(hookNames.map((hook) => [hook, channels?.channel(channelName(hook))]));
  return (hook, event) => {
    const channel = channelOf.get(hook);
    if (channel?.hasSubscribers) channel.publish(event);
    if (logger !== undefined) log(logger, levels[hook], `pod-partner ${hook.slice(2)}`, event);
    safely(
      () => {
        const callback = hooks[hook] as ((event: Event<typeof hook>) => void) | undefined;
        // On its object: the hooks may be an instance that keeps what it hears.
        if (callback !== undefined) return callback.call(hooks, event);
        if (logger !== undefined) return;
        if (hook === "onStoreLost") warnOfLostStore(event as StoreLostEvent);
        if (hook === "onUnreadDownload") warnOfUnreadDownload(event as UnreadDownloadEvent);
      },
      (error) => {
        if (logger !== undefined)
          log(logger, "error", `pod-partner: the hook ${hook} threw`, { error: wordsOf(error) });
      },
    );
  };
}
