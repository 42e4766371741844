import type { Issue } from "../errors/validation.ts";
import type { PauseReason } from "./pacing/wait.ts";

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
  /** The rate-limit policy, for example `default` (specification 8). Also `default` where the reason does not belong to a policy. */
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
 * What processes share, or the storage, cannot be reached. Until it is back, each process paces itself (`pacing.shared`), or the client
 * remembers nothing, and orders, claims and paid renders wait (`storage`, unless `storageLost` is `continue`).
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

export type Event<Hook extends keyof Hooks> = Parameters<NonNullable<Hooks[Hook]>>[0];

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
