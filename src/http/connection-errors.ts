import { ApiError, RedirectError } from "../errors/api.ts";
import { UnexpectedError } from "../errors/base.ts";
import { ConnectionError, RequestTimeoutError, withoutTls } from "../errors/connection.ts";
import { attempt, isError, propertyOf, textOf, wordsOf } from "../util/foreign.ts";
import { visible } from "../util/visible.ts";
import type { Redact } from "./redact.ts";
import { proxyMessage } from "./response.ts";

/** The fields of an error that are copied. Other fields, which a caller's own `fetch` may add, could show the request. */
const copiedFields = ["code", "errno", "syscall", "hostname", "address", "port"];

/** The maximum number of nested causes that are copied. */
const maxDepth = 5;

/** The maximum number of errors of an aggregate that are copied: one for each address of a name. */
const maxAddresses = 20;

/** Wraps an error from before the call of `fetch`: no request was sent. */
export class NeverSent {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** A copy of a thrown value. Reading the copy cannot throw. */
export interface Thrown {
  /** Whether it has a message. `instanceof` does not recognise an error of another realm. */
  readonly isError: boolean;
  readonly name: string;
  /** Empty if an error has no message. */
  readonly message: string;
  readonly stack: string | undefined;
  readonly details: ReadonlyMap<string, string>;
  /** The errors of an aggregate; the first one is also its cause. */
  readonly errors: readonly Thrown[];
  readonly cause: Thrown | undefined;
}

const detailOf = (thrown: unknown, name: string): readonly [string, string][] => {
  const value = propertyOf(thrown, name);
  return typeof value === "string" || typeof value === "number" ? [[name, String(value)]] : [];
};

/** Copies a thrown value. */
function readThrown(thrown: unknown, depth = 0): Thrown {
  const message = textOf(thrown, "message");
  const isOne = isError(thrown) || message !== undefined;
  const several = isOne && depth < maxDepth ? propertyOf(thrown, "errors") : undefined;
  const errors = attempt(() => (Array.isArray(several) ? several.slice(0, maxAddresses) : [])) ?? [];
  const read = errors.map((error: unknown) => readThrown(error, depth + 1));
  const cause = isOne && depth < maxDepth ? propertyOf(thrown, "cause") : undefined;
  return {
    isError: isOne,
    name: (isOne ? textOf(thrown, "name") : undefined) ?? "Error",
    message: message ?? wordsOf(thrown),
    stack: isOne ? textOf(thrown, "stack") : undefined,
    details: new Map(isOne ? copiedFields.flatMap((name) => detailOf(thrown, name)) : []),
    errors: read,
    cause: read[0] ?? (cause === undefined ? undefined : readThrown(cause, depth + 1)),
  };
}

/** Makes an error that has only the texts of the thrown value, without the key. */
function safeCopy({ name, message, stack, details, cause }: Thrown, redact: Redact): Error {
  const error = new Error(visible(redact(message)));
  const fields = new Map([...details, ["name", name], ["stack", stack ?? `${name}: ${message}`]]);
  // An assignment throws if `Error.prototype` is frozen.
  const define = (field: string, value: unknown) =>
    Object.defineProperty(error, field, { value, writable: true, configurable: true, enumerable: details.has(field) });
  for (const [field, text] of fields) define(field, visible(redact(text)));
  if (cause !== undefined) define("cause", safeCopy(cause, redact));
  return error;
}

/** Wraps an error from code that should not throw. */
export function unexpected(error: unknown, redact: Redact): UnexpectedError {
  const thrown = readThrown(error);
  return new UnexpectedError({ reason: redact(thrown.message || thrown.name), cause: safeCopy(thrown, redact) });
}

/*
 * When in doubt, a request counts as sent: a creation is then looked up instead of made twice. The codes and messages here were seen on
 * Node, Bun and Deno (`test/runtimes`), or can only come from opening a connection.
 */

/**
 * System calls that come before a connection: the look-up of the name, and the opening of a socket. With any other, such as `read`, a connection
 * was open. The code does not matter then: both kinds of calls have many.
 */
const openingCalls = /^(getaddrinfo|getnameinfo|query\w*|getHostByAddr|socket|bind|connect)$/;

/**
 * Codes of errors that may not name their system call: the name was not resolved, no server could be reached, or a client of undici was
 * closed before it took the request. The list does not have the `ConnectionRefused` of Bun 1.2, which also stands for a TLS connection that
 * broke after it had carried a request.
 */
const unreachable =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|ERR_SOCKET_CONNECTION_TIMEOUT|ERR_PROXY_TUNNEL|UND_ERR_(CONNECT_TIMEOUT|CLOSED|PRX_TLS))$/;

/** The server's certificate was refused. OpenSSL's alerts (`ERR_SSL_…`) can come later, and can be about the client's certificate. */
const untrusted = /^(?!ERR_SSL_).*(CERT|SELF_SIGNED|UNABLE_TO_)|^(HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)$/;

/** The server's first bytes are not TLS: OpenSSL's code, or its words behind an `EPROTO` of node:https. */
const notTls = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)|:(wrong version number|packet length too long):/;

/** The server does not support TLS, or no common version. The list does not have Bun's `EPROTO`, for the same reason. */
const noHandshake =
  /^ERR_TLS_HANDSHAKE_TIMEOUT$|^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNSUPPORTED_PROTOCOL|TLSV1_UNRECOGNIZED_NAME|.*_ALERT_(PROTOCOL_VERSION|HANDSHAKE_FAILURE))$/;

/**
 * Messages of errors without a code: from Deno, from Node for a TLS connection that was closed during the handshake and for a port that
 * `fetch` blocks (such as 6000, in the standard's list of bad ports), from undici for a proxy that refuses a tunnel, and from Node's
 * `fetch` for a dispatcher of another undici, whose handlers it does not know.
 */
const neverConnected =
  /client error \(Connect\)|disconnected before secure TLS connection was established|^bad port$|^invalid on\w+ method$|^Proxy response \(\d+\) !== 200/;

/** The messages of Node, Bun and Deno for a refused redirect. */
const redirected = /^unexpected redirect$|^UnexpectedRedirect\b|redirect mode is set to 'error'/;

/** What Bun and Deno add to a message: an address with its query, and advice that is not for callers of the SDK. */
const runtimeAdditions =
  /^error sending request .*?: client error \(\w+\): | fetching "[^"]*"|\. For more information, pass `verbose.*$/g;

/** Finds the first cause with a code, down to the first error of an aggregate. The code is empty if there is none. */
function findFault(thrown: Thrown): { readonly code: string; readonly message: string } {
  let [code, message] = ["", thrown.message || thrown.name];
  for (let current: Thrown | undefined = thrown; current?.isError; current = current.cause) {
    code = current.details.get("code") ?? "";
    message = current.message || message;
    // Node throws an aggregate when all addresses of a name fail: it has a code, but not the system call.
    if (current.details.has("code") && current.errors.length === 0) break;
  }
  return { code, message };
}

/** Whether the error of a destroyed client of undici was made when the request was passed to it, and not when the client was destroyed. */
const wasDestroyedBefore = ({ details, stack = "" }: Thrown): boolean =>
  details.get("code") === "UND_ERR_DESTROYED" && /^.*\n\s+at (\S+\.)?dispatch \(/.test(stack);

/**
 * Whether an error shows when it happened: true before a connection was open, so that the request was certainly not sent, and false while a
 * connection carried the request. Undefined if it shows neither.
 */
function cameBefore(thrown: Thrown): boolean | undefined {
  const { isError, message, details, errors, cause } = thrown;
  if (!isError) return undefined;
  // The code of an aggregate is that of its first error.
  if (errors.length > 0) return errors.every((error) => cameBefore(error) === true) || undefined;
  const { code = "", syscall = "" } = Object.fromEntries(details);
  const inner = cause && cameBefore(cause);
  if ((syscall !== "" && !openingCalls.test(syscall)) || inner === false) return false;
  const shown = inner || openingCalls.test(syscall) || wasDestroyedBefore(thrown) || neverConnected.test(message);
  return shown || [unreachable, untrusted, noHandshake].some((codes) => codes.test(code)) || undefined;
}

/** The error of a redirect that `fetch` itself refused. The status and the target are unknown. */
const refusedRedirect = (endpoint: string): RedirectError =>
  new RedirectError({
    endpoint,
    message: "a redirect, which the SDK does not follow",
    response: { status: 0, headers: {}, body: undefined },
  });

/**
 * Whether a proxy refused the request with a 407. Node's `fetch` throws a network error without a message for it, so that only the stack
 * shows it. The service has not received the request.
 */
const refusedByProxy = ({ cause }: Thrown): boolean =>
  cause?.message === "" &&
  /^\s+at makeNetworkError .*\n\s+at (async )?httpNetworkOrCacheFetch /m.test(cause.stack ?? "");

const proxyError = (endpoint: string): ApiError =>
  new ApiError({ endpoint, message: proxyMessage, response: { status: 407, headers: {}, body: undefined } });

/** Whether Node's `fetch`, which is undici, ended its wait for the head or for the rest of a response by itself. */
const stoppedWaiting = ({ details, cause }: Thrown): boolean =>
  /^UND_ERR_(HEADERS|BODY)_TIMEOUT$/.test(details.get("code") ?? "") || (cause !== undefined && stoppedWaiting(cause));

/** Turns an error of `fetch` into one that says whether the service may have received the request. */
export function toConnectionError(
  error: unknown,
  endpoint: string,
  redact: Redact,
): ConnectionError | RequestTimeoutError | ApiError {
  const early = attempt(() => (error instanceof NeverSent ? error : undefined));
  const thrown = readThrown(early === undefined ? error : early.error);
  if (refusedByProxy(thrown)) return proxyError(endpoint);
  const { code, message: given } = findFault(thrown);
  if (redirected.test(given)) return refusedRedirect(endpoint);
  if (stoppedWaiting(thrown)) return new RequestTimeoutError({ endpoint, cause: safeCopy(thrown, redact) });
  const isPlain = notTls.test(code) || notTls.test(given);
  const message = isPlain ? withoutTls : redact(given.replace(runtimeAdditions, ""));
  const reason = code === "" || isPlain || message.includes(code) ? message : redact(`${message} (${code})`);
  return new ConnectionError({
    endpoint,
    reason,
    sent: early === undefined && cameBefore(thrown) !== true,
    cause: safeCopy(thrown, redact),
  });
}
