import type { Download, NotModified } from "../binary/download.ts";
import { fileFault } from "../binary/file-check.ts";
import {
  ApiError,
  type ApiErrorDetails,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  GoneError,
  NotFoundError,
  NotImplementedError,
  NotReadyError,
  PermissionDeniedError,
  RateLimitError,
  RedirectError,
  RendertokenLimitError,
  ServerError,
} from "../errors/api.ts";
import type { ErrorResponse } from "../errors/response.ts";
import { type Issue, ResponseValidationError } from "../errors/validation.ts";
import type { AssumedCall, Assumptions } from "../schemas/assumptions.ts";
import { check } from "../schemas/check.ts";
import { isRecord, propertyOf, textOf } from "../util/foreign.ts";
import type { HeaderFields, ResponseHead } from "../util/response-head.ts";
import { isoTime } from "../util/timestamp.ts";
import { type Endpoint, nameOf, type ResponseShape } from "./endpoint.ts";
import { parseJson, type Redact, snapshot } from "./redact.ts";

/** A response that has arrived: its head, and its body as text or as a download. */
export interface Arrival {
  readonly response: ResponseHead;
  /** Empty if the body belongs to a download. */
  readonly text: string;
  readonly download?: Download | NotModified;
}

/** Whether a response to a request for a file is a success. A 202 means that the file is not ready. */
export const isFileReady = ({ ok, status }: Pick<ResponseHead, "ok" | "status">): boolean => ok && status !== 202;

/** Parses an HTTP date in any of its three forms (RFC 9110, 5.6.7). The oldest form ends with the year, without a time zone; it is in UTC. */
const parseDate = (text: string): number => Date.parse(/ \d{4}$/.test(text) ? `${text} GMT` : text);

/**
 * The wait in milliseconds that a `Retry-After` asks for, as seconds or as an HTTP date; undefined when it is absent or invalid.
 *
 * A date counts from the response's own `Date`, so that the client's clock does not matter.
 */
export function parseRetryAfter(headers: HeaderFields, now: number): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (value === undefined) return undefined;
  // A repeated header is one value with commas: the longest wait applies.
  const seconds = value.split(",").map((part) => part.trim());
  if (seconds.every((part) => /^\d+(\.\d+)?$/.test(part))) {
    const ms = Math.max(...seconds.map(Number)) * 1000;
    return Number.isFinite(ms) ? ms : undefined;
  }
  // `Date.parse` accepts almost any text; an HTTP date begins with the name of a day.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(value)) return undefined;
  const until = parseDate(value);
  const since = parseDate(headers.get("date") ?? "");
  return Number.isNaN(until) ? undefined : Math.max(0, until - (Number.isNaN(since) ? now : since));
}

/** The class of each status that has one (specification 7). */
const classes = new Map<number, new (details: ApiErrorDetails) => ApiError>([
  [202, NotReadyError],
  [400, BadRequestError],
  [401, AuthenticationError],
  [403, PermissionDeniedError],
  [404, NotFoundError],
  [409, ConflictError],
  [410, GoneError],
  [429, RateLimitError],
  [501, NotImplementedError],
]);

function classFor(status: number): new (details: ApiErrorDetails) => ApiError {
  const exact = classes.get(status);
  if (exact !== undefined) return exact;
  if (status >= 500) return ServerError;
  return status >= 300 && status < 400 ? RedirectError : ApiError;
}

/** The error object is the body itself, as the specification shows it, or the field `error`, as its conventions suggest. */
const stringField = (body: unknown, name: string): string | undefined =>
  textOf(body, name) || textOf(propertyOf(body, "error"), name) || undefined;

/** Names the origin of a redirect's target, and no other part of it. */
function redirectMessage(location: string | undefined, url: string): string {
  if (location === undefined || !URL.canParse(location, url)) return "a redirect, which the SDK does not follow";
  return `a redirect to ${new URL(location, url).origin}, which the SDK does not follow`;
}

/** The service has no status 407 (specification 7): it comes from a proxy, which does not forward the request. */
export const proxyMessage =
  "a proxy between this process and the service requires credentials. Set them in the `fetch` that uses the proxy, or in the option `proxy` of nodeTransport";

/** Describes a response without a message of the service. */
function messageFor({ status, headers, body }: ErrorResponse, url: string): string {
  if (status >= 300 && status < 400) return redirectMessage(headers.location, url);
  if (status === 407) return proxyMessage;
  if (status === 202) return "the file is not ready yet";
  if (typeof body === "string") return `the response has no error object, but text: ${body.slice(0, 200)}`;
  return "the response has no error object";
}

/** Makes the typed error of a response that is not a success, from its status and its error object (specification 2.2, 7). */
export function toApiError(failed: {
  readonly response: ErrorResponse;
  readonly headers: HeaderFields;
  readonly endpoint: string;
  readonly url: string;
  readonly now: number;
}): ApiError {
  const { response, headers, endpoint, url, now } = failed;
  const details = {
    response,
    code: stringField(response.body, "code"),
    message: messageFor(response, url),
    serviceMessage: stringField(response.body, "message"),
    endpoint,
    retryAfter: parseRetryAfter(headers, now),
  };
  if (response.status === 429 && details.code === "rendertoken_limit_exceeded") {
    const { retryAfter } = details;
    return new RendertokenLimitError({
      ...details,
      resetsAt: retryAfter === undefined ? undefined : isoTime(now + retryAfter),
    });
  }
  return new (classFor(response.status))(details);
}

/**
 * What happens to a response with a fault that is not essential: `report` reports the fault and returns the response as it came, `throw`
 * throws an error. An essential fault is always an error.
 */
export type ResponseMode = "report" | "throw";

/** How the SDK itself uses a request and its response. */
export interface ResponseUse {
  /**
   * The names of the fields that it uses, besides the one of the whole record. Only a fault in one of them is an error. Default: the
   * essential fields.
   */
  readonly needs?: readonly string[];
  /** True for a request that the SDK sends for itself, such as a look-up. Its last retry does not need the retry budget. */
  readonly internal?: boolean | undefined;
  /** Throws, right before each attempt, if the request may not be sent any more. */
  readonly check?: (() => void) | undefined;
}

interface Decoding {
  readonly mode: ResponseMode;
  readonly needs: ResponseUse["needs"];
  readonly redact: Redact;
  /** Names of response fields that the specification does not show, by call. */
  readonly fields: Assumptions["fields"];
  /** Reports faults: those that the call fails for, and the others. */
  readonly onInvalid: (status: number, thrown: readonly Issue[], described: readonly Issue[]) => void;
}

type JsonShape = Exclude<ResponseShape<unknown>, { kind: "binary" }>;

/** The data of a response, and its faults. */
interface Decoded {
  readonly data: unknown;
  /** The essential ones. */
  readonly issues: readonly Issue[];
  /** Those of descriptive fields. */
  readonly described: readonly Issue[];
  /** The cursor of the rest of a list without pages. */
  readonly nextCursor?: string;
}

/** A URL cannot carry a lone surrogate, so that the next page would be another one. */
const isCursor = (value: unknown): value is string => typeof value === "string" && value.isWellFormed();
const notACursor: Issue = { path: ["nextCursor"], message: "expected a string or null" };
const missing = (path: Issue["path"]): Issue => ({ path, message: "is missing" });
const noFaults = { issues: [], described: [] };

/** Checks data against a schema and returns the data itself, so that unknown fields are kept. */
function checked(schema: Parameters<typeof check>[0], data: unknown, path: Issue["path"]): Decoded {
  const result = check(schema, data, path);
  return { data, issues: result.ok ? [] : result.issues, described: result.described };
}

function readPage(body: unknown, { field, items }: Extract<JsonShape, { kind: "page" }>): Decoded {
  const fields = isRecord(body) ? body : {};
  const { nextCursor } = fields;
  const reading = checked(items, fields[field], [field]);
  const data = { items: reading.data, nextCursor };
  if (nextCursor === null || isCursor(nextCursor)) return { ...reading, data };
  const fault = nextCursor === undefined ? missing(["nextCursor"]) : notACursor;
  return { ...reading, data, issues: [...reading.issues, fault] };
}

/** Whether a body says that there is no data. */
function saysNone(body: unknown, shape: JsonShape): boolean {
  // The body is ignored: a later version of the service may send one.
  if (shape.kind === "empty") return true;
  if (shape.kind === "whole") return body === undefined && !!shape.optional;
  return shape.kind === "field" && shape.saysNone?.(body) === true;
}

const noneOf = ({ kind }: JsonShape): null | undefined => (kind === "field" ? null : undefined);

function read(body: unknown, shape: JsonShape): Decoded {
  if (saysNone(body, shape) || shape.kind === "empty") return { data: noneOf(shape), ...noFaults };
  if (shape.kind === "page") return readPage(body, shape);
  if (shape.kind === "whole") return checked(shape.schema, body, []);
  if (isRecord(body) && Object.hasOwn(body, shape.field)) {
    const reading = checked(shape.schema, body[shape.field], [shape.field]);
    return shape.list ? withCursor(reading, body.nextCursor) : reading;
  }
  if (shape.assumed !== undefined) return checked(shape.schema, shape.assumed(body), [shape.field]);
  return { data: body, issues: [missing([shape.field])], described: [] };
}

/** Every list may be "returned together with `nextCursor`" (specification 1, Conventions), also one that has no pages. */
function withCursor(reading: Decoded, nextCursor: unknown): Decoded {
  if (nextCursor === undefined || nextCursor === null) return reading;
  if (isCursor(nextCursor)) return { ...reading, nextCursor };
  return { ...reading, issues: [...reading.issues, notACursor] };
}

/** Whether a fault is in a field with one of these names, or in the form of the record around them. */
function isNeeded({ path }: Issue, needs: readonly string[], shape: JsonShape): boolean {
  const inRecord = shape.kind === "whole" ? path : path.slice(1);
  return inRecord.every((part) => typeof part === "number" || needs.includes(part));
}

const wholeBody = (body: unknown): unknown => body;

/** The shape of a response, with the field name of the caller's assumptions. */
function shapeOf({ response, call }: Endpoint, fields: Decoding["fields"]): ResponseShape<unknown> {
  const name = Object.hasOwn(fields, call) ? fields[call as AssumedCall] : undefined;
  if (name === undefined || response.kind !== "field") return response;
  // `null` stands for the whole body: no field has an empty name.
  return { ...response, field: name ?? "", assumed: wholeBody };
}

/** Reads the data of a response, and checks it against the endpoint's schema. */
export function decode(
  endpoint: Endpoint,
  arrival: Arrival,
  { mode, needs, redact, fields, onInvalid }: Decoding,
): Pick<Decoded, "data" | "nextCursor"> {
  const shape = shapeOf(endpoint, fields);
  const { response, text, download } = arrival;
  if (download !== undefined) return { data: download };
  const refuse = (thrown: readonly Issue[], described: readonly Issue[] = []): ResponseValidationError => {
    onInvalid(response.status, thrown, described);
    return new ResponseValidationError({
      issues: thrown,
      response: snapshot(response.status, response.headers, text, redact),
      endpoint: nameOf(endpoint),
    });
  };
  if (shape.kind === "binary") throw refuse([{ path: [], message: redact(fileFault(response) ?? "expected a file") }]);
  if (text === "" && saysNone(undefined, shape)) return { data: noneOf(shape) };
  const json = parseJson(text);
  if (json === undefined)
    throw refuse([{ path: [], message: text === "" ? "the body is empty" : "the body is not JSON" }]);
  const reading = read(json.value, shape);
  if (reading.issues.length + reading.described.length === 0) return reading;
  const all = [...reading.issues, ...reading.described];
  const isThrown = (issue: Issue) =>
    mode === "throw" || (needs === undefined ? reading.issues.includes(issue) : isNeeded(issue, needs, shape));
  const redacted = (issues: readonly Issue[]) => issues.map((issue) => redactIssue(issue, redact));
  const thrown = redacted(all.filter(isThrown));
  const others = redacted(all.filter((issue) => !isThrown(issue)));
  if (thrown.length > 0) throw refuse(thrown, others);
  onInvalid(response.status, [], others);
  return reading;
}

/** Redacts an issue: the message of a caller's own schema may contain the unexpected value. */
const redactIssue = ({ path, message, ...unchecked }: Issue, redact: Redact): Issue => ({
  ...unchecked,
  path: path.map((part) => (typeof part === "string" ? redact(part) : part)),
  message: redact(message),
});
