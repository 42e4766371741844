import type { Issue } from "../errors/validation.ts";

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
  readonly status: number | undefined;
  readonly code: string | undefined;
}

/** A call has to wait for a token of a rate-limit bucket. */
export interface PauseEvent extends CallEvent {
  readonly reason: "bucket-empty" | "rate-limited";
  readonly policy: string;
  /** Milliseconds until the bucket has its next token; calls before this one may use it. */
  readonly length: number;
}

/** An answer does not have the shape that the specification promises. */
export interface InvalidResponseEvent extends CallEvent {
  readonly status: number;
  readonly issues: readonly Issue[];
}

/** The store of a fleet's pacing cannot be reached: each process paces itself until it is back. */
export interface StoreLostEvent {
  readonly reason: string;
}

/** The store of a fleet's pacing can be reached again. */
export type StoreBackEvent = Readonly<Record<never, never>>;

/** Functions that are told what happens. What they throw, or reject with, is logged and otherwise ignored. */
export interface Hooks {
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  readonly onPause?: ((event: PauseEvent) => void) | undefined;
  readonly onInvalidResponse?: ((event: InvalidResponseEvent) => void) | undefined;
  readonly onStoreLost?: ((event: StoreLostEvent) => void) | undefined;
  readonly onStoreBack?: ((event: StoreBackEvent) => void) | undefined;
}

/** Receives the same events as text and fields; `console` fits. */
export interface Logger {
  debug?(message: string, fields: object): void;
  info?(message: string, fields: object): void;
  warn?(message: string, fields: object): void;
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
  onStoreLost: "warn",
  onStoreBack: "info",
};

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

/** Tells an event to whoever watches. */
export type Observe = <Hook extends keyof Hooks>(hook: Hook, event: Event<Hook>) => void;

export function createObserver(hooks: Hooks, logger: Logger | undefined): Observe {
  const channels = globalThis.process?.getBuiltinModule?.("node:diagnostics_channel");
  const channelOf = new Map(
    (Object.keys(levels) as (keyof Hooks)[]).map((hook) => [hook, channels?.channel(channelName(hook))]),
  );
  return (hook, event) => {
    const channel = channelOf.get(hook);
    if (channel?.hasSubscribers) channel.publish(event);
    if (logger !== undefined) log(logger, levels[hook], `pod-partner ${hook.slice(2)}`, event);
    const callback = hooks[hook] as ((event: Event<typeof hook>) => void) | undefined;
    if (callback === undefined) {
      if (hook === "onStoreLost" && logger === undefined) warnOfLostStore(event as StoreLostEvent);
      return;
    }
    safely(
      () => callback(event),
      (error) => {
        if (logger !== undefined) log(logger, "error", `pod-partner: the hook ${hook} threw`, { error: String(error) });
      },
    );
  };
}
