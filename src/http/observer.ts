import type { Issue } from "../errors/validation.ts";
import { isFunction, propertyOf, safely, wordsOf } from "../util/foreign.ts";
import { builtIn } from "../util/runtime.ts";
import type { PauseReason } from "./pacing/wait.ts";

/** The fields of every event. No event has a header, a body or a query, so that no event contains secret or personal data. */
interface CallEvent {
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

/** A response does not match the specification. */
export interface InvalidResponseEvent extends CallEvent {
  /** The HTTP status. */
  readonly status: number;
  /** Every issue with its path. */
  readonly issues: readonly Issue[];
}

/** A download was canceled at its `timeout` or `deadline` before the caller began to read it. */
export interface UnreadDownloadEvent extends CallEvent {
  /** `RequestTimeoutError` or `DeadlineError`. */
  readonly error: string;
}

/**
 * What processes share, or the storage, cannot be reached. Until it is back, each process paces itself (`pacing.shared`), or the client remembers nothing (`storage`).
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
  /** Called when a response breaks its schema, with `responses: "throw"` and with `"report"`. */
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

/** Receives the same events as text and fields, for example `console`, winston or pino. Events of a level that it does not have are dropped. */
export interface Logger {
  /** Requests and responses. */
  debug?(message: string, fields: object): void;
  /** Pauses, and a storage that is back. */
  info?(message: string, fields: object): void;
  /** Retries, unread downloads, and a storage that is lost. */
  warn?(message: string, fields: object): void;
  /** Responses that break their schema, and hooks that threw. */
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
  onStorageLost: "warn",
  onStorageBack: "info",
};

/** The names of all hooks. */
export const hookNames = Object.keys(levels) as readonly (keyof Hooks)[];

/** The name of an event's `node:diagnostics_channel`, such as `pod-partner:request`. */
const channelName = (hook: keyof Hooks): string =>
  `pod-partner:${hook
    .slice(2)
    .replace(/(?!^)[A-Z]/g, "-$&")
    .toLowerCase()}`;

/** The name of an event in a log. */
const nameOf = (hook: keyof Hooks): string => `pod-partner ${hook.slice(2)}`;

/** Logs an event. An error of the logger is dropped, because no other place can report it. */
function log(logger: Logger, level: Level, message: string, fields: object): void {
  safely(
    () => {
      // Pino takes the fields first, and drops those that follow a message.
      const isPino = isFunction(propertyOf(logger, "bindings"));
      const write = logger[level];
      return write && Reflect.apply(write, logger, isPino ? [fields, message] : [message, fields]);
    },
    () => undefined,
  );
}

/** Writes the events from a level on to stderr, one line each. A request is not written: its response or its retry is. */
export function stderrLogger(level: Level): Logger {
  const names = Object.keys({ debug: 0, info: 0, warn: 0, error: 0 } satisfies Record<Level, 0>);
  const write = (name: string) => (message: string, fields: object) => {
    if (message === nameOf("onRequest")) return;
    const values = Object.entries(fields).filter(([, value]) => value !== undefined);
    const text = values.map(
      ([key, value]) => `${key}=${typeof value === "number" ? Math.round(value) : JSON.stringify(value)}`,
    );
    console.error([new Date().toISOString(), name, message, ...text].join(" "));
  };
  return Object.fromEntries(names.slice(names.indexOf(level)).map((name) => [name, write(name)]));
}

/** Warns of a lost storage when there is no hook and no logger. */
function warnOfLostStorage({ option, reason }: StorageLostEvent): void {
  const effect = option === "storage" ? "The client remembers nothing" : "This process paces itself";
  const text = `pod-partner: the option \`${option}\` cannot be reached (${reason}). ${effect} until it is back.`;
  globalThis.process?.emitWarning?.(text, { code: "POD_PARTNER_STORAGE_LOST" });
}

const warnedOf = new Set<string>();

/** Warns of an unread download, which uses a token and a connection until its timeout. */
function warnOfUnreadDownload({ endpoint, error }: UnreadDownloadEvent): void {
  if (warnedOf.has(endpoint)) return;
  warnedOf.add(endpoint);
  const text = `pod-partner: the download of ${endpoint} was not read in time and was canceled (${error}). Read it, or call its cancel().`;
  globalThis.process?.emitWarning?.(text, { code: "POD_PARTNER_UNREAD_DOWNLOAD" });
}

/** Warns of an event that a program should know, although it has no hook and no logger for it. */
function warn(hook: keyof Hooks, event: CallEvent | StorageLostEvent | StorageBackEvent): void {
  if (hook === "onStorageLost") warnOfLostStorage(event as StorageLostEvent);
  if (hook === "onUnreadDownload") warnOfUnreadDownload(event as UnreadDownloadEvent);
}

/** Sends an event to the hooks, the logger and the diagnostics channel. */
export type Observe = <Hook extends keyof Hooks>(hook: Hook, event: Event<Hook>) => void;

export function createObserver(hooks: Hooks | undefined, logger: Logger | undefined): Observe {
  const channels = builtIn("node:diagnostics_channel");
  const channelOf = Object.fromEntries(hookNames.map((hook) => [hook, channels?.channel(channelName(hook))]));
  return (hook, event) => {
    const channel = channelOf[hook];
    if (channel?.hasSubscribers) channel.publish(event);
    if (logger !== undefined) log(logger, levels[hook], nameOf(hook), event);
    if (hooks === undefined && logger === undefined) return warn(hook, event);
    safely(
      () => {
        const callback = hooks?.[hook] as ((event: Event<typeof hook>) => void) | undefined;
        // Called as a method: the hooks may be an instance of a class.
        if (callback !== undefined) return callback.call(hooks, event);
        if (logger === undefined) warn(hook, event);
      },
      (error) => {
        if (logger !== undefined)
          log(logger, "error", `pod-partner: the hook ${hook} threw`, { error: wordsOf(error) });
      },
    );
  };
}
