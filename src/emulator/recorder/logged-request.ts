import type { Policy } from "../../http/endpoint.ts";
import type { Fault } from "../faults/fault.ts";

/**
 * How a request ended.
 *
 * - `open`: it has not ended. Its response is pending, or its response's body is not complete.
 * - `responded`: the whole response was sent.
 * - `dropped`: the emulator broke the connection before the response was complete, because of a fault, or because `load`, `reset` or
 *   `rewind` replaced its state.
 * - `aborted`: the client ended the request, or its connection, before the response was complete.
 */
export type RequestOutcome = "open" | "responded" | "dropped" | "aborted";

/** The body of a recorded request or response. */
export interface RecordedBody {
  /** The header `Content-Type`; empty without one. */
  readonly type: string;
  /** Bytes that were read or sent. */
  readonly size: number;
  /** A text or JSON, cut after about 64 kB. Undefined for a binary body, such as an image. */
  readonly text: string | undefined;
  /** Whether `text` lacks a part of the body. */
  readonly truncated: boolean;
  /** Parses the text. Throws a `SyntaxError` when it is not JSON, and when it is truncated. */
  json(): unknown;
}

/** The headers and the body of a recorded request or response. */
export interface RecordedMessage {
  /** By name, in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Undefined without a body, and for a request whose body the service did not read, for example after a 401 or a 429: to read it only
   * for the log would delay the response, and use memory for requests that the service refuses.
   */
  readonly body: RecordedBody | undefined;
}

/** When the service itself worked on a request: milliseconds since the request arrived. A fault can delay it, and replace its response. */
export interface ServiceTime {
  readonly began: number;
  readonly ended: number;
  /** The status that the service responded with. */
  readonly status: number;
}

/**
 * A request that reached the emulator, and its response. The fields change until the request has ended.
 *
 * The own fields are `method`, `path` and `status`, so that a list of requests prints and compares in few lines. The others are
 * getters; `toJSON()` returns all.
 *
 * Each key of the emulator, and the key of the request, is replaced with `[redacted]` wherever it occurs.
 *
 * @example
 * const [placed] = emulator.requests.where({ on: "orders.create", status: 200 });
 * console.log(placed?.request.body?.json(), placed?.duration, placed?.tokens?.default);
 */
export interface LoggedRequest {
  readonly method: string;
  /** Relative to the base URL, with the query: `/orders?cursor=…`. */
  readonly path: string;
  /** Undefined until the emulator responds. It stays undefined when the connection was dropped or the client aborted. */
  readonly status: number | undefined;
  /** Counts from 1, and continues after `clear()`. */
  readonly id: number;
  /** When the request arrived: milliseconds since 1970 by the emulator's clock. */
  readonly time: number;
  /** When the request arrived, in milliseconds by the clock of the connection, which no speed changes. */
  readonly start: number;
  /** The client's call, such as `orders.create`. Undefined for a path that no endpoint has. */
  readonly call: string | undefined;
  readonly request: RecordedMessage;
  /** Undefined while `status` is undefined. */
  readonly response: RecordedMessage | undefined;
  /** Milliseconds until the request ended, by the clock of the options. Undefined before. */
  readonly duration: number | undefined;
  /** The whole tokens that each rate-limit bucket had when the request ended. Undefined before, and without a valid key. */
  readonly tokens: Readonly<Record<Policy, number>> | undefined;
  /** The kind of the fault that applied. */
  readonly fault: Fault["fault"] | undefined;
  /** The service's own part. Undefined when a fault kept the request from it, and until it has responded. */
  readonly service: ServiceTime | undefined;
  readonly outcome: RequestOutcome;
  /** All fields and the `code` of the error object, for `JSON.stringify`. A missing value is null. */
  toJSON(): Readonly<Record<string, unknown>>;
}

/** Selects requests. Each field is optional; a request must match all that are given. */
export interface RequestFilter {
  /** The client's call (`orders.create`) or the specification's endpoint (`POST /orders`). */
  readonly on?: string | undefined;
  readonly method?: string | undefined;
  /** Relative to the base URL. Without a query it matches the path with any query. */
  readonly path?: string | undefined;
  readonly status?: number | undefined;
  /** The kind of the fault that applied. */
  readonly fault?: Fault["fault"] | undefined;
  readonly outcome?: RequestOutcome | undefined;
}

/** The requests that the emulator recorded, oldest first. It reads like an array. */
export interface RequestLog extends ReadonlyArray<LoggedRequest> {
  /**
   * Returns the requests that match, oldest first.
   *
   * @example
   * const created = emulator.requests.where({ on: "orders.create", status: 200 });
   * @throws TypeError when a field of the filter is unknown or invalid, or `on` names an endpoint that does not exist.
   */
  where(filter: RequestFilter): LoggedRequest[];
  /** Returns the request with an id. Undefined when the log does not have it, or no longer. */
  get(id: number): LoggedRequest | undefined;
  /** Removes all requests. */
  clear(): void;
  /**
   * Exports the log as HAR 1.2, which browsers and HTTP tools can open. The fields `_id`, `_call`, `_fault`, `_outcome` and `_tokens`
   * of an entry are the emulator's own. An entry without a response has the status 0.
   *
   * @example
   * const har = JSON.stringify(emulator.requests.toHar());
   */
  toHar(): Har;
}

/** A header, or a parameter of a query. */
export interface HarPair {
  readonly name: string;
  readonly value: string;
}

/** What a request and a response have in common. A size of -1 is unknown. */
export interface HarMessage {
  readonly httpVersion: string;
  readonly cookies: readonly never[];
  readonly headers: readonly HarPair[];
  readonly headersSize: number;
  readonly bodySize: number;
}

/** One request in an HTTP archive. */
export interface HarEntry {
  readonly startedDateTime: string;
  readonly time: number;
  readonly request: HarMessage & {
    readonly method: string;
    readonly url: string;
    readonly queryString: readonly HarPair[];
    readonly postData?: { readonly mimeType: string; readonly text: string };
  };
  readonly response: HarMessage & {
    /** 0 without a response. */
    readonly status: number;
    readonly statusText: string;
    readonly content: { readonly size: number; readonly mimeType: string; readonly text?: string };
    readonly redirectURL: string;
  };
  readonly cache: Readonly<Record<string, never>>;
  readonly timings: { readonly send: number; readonly wait: number; readonly receive: number };
  readonly _id: number;
  readonly _call?: string;
  readonly _fault?: string;
  readonly _outcome: string;
  readonly _tokens?: Readonly<Record<Policy, number>>;
}

/** An HTTP archive, version 1.2. */
export interface Har {
  readonly log: {
    readonly version: "1.2";
    readonly creator: { readonly name: string; readonly version: string };
    readonly entries: readonly HarEntry[];
  };
}
