import { ApiError, RedirectError } from "../../errors/api.ts";
import { ConnectionError } from "../../errors/connection.ts";
import { attempt } from "../../util/foreign.ts";
import { proxyMessage } from "./error-mapping.ts";
import type { Redact } from "./redact.ts";
import { harmless, NeverSent, readThrown, type Thrown } from "./thrown.ts";

/*
 * When in doubt a request counts as sent: a creation is then looked up, instead of made twice. What is listed here was seen on
 * Node, Bun and Deno (`test/runtimes`), or can come from nowhere but the making of a connection.
 */

/**
 * The name was not resolved, or nobody could be reached. The `ConnectionRefused` of Bun 1.2 is not among these: it said the same
 * of a TLS connection that broke after it had carried a request.
 */
const unreachable = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EAI_FAIL",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** The other side's certificate was not accepted. OpenSSL's alerts (`ERR_SSL_…`) may come later, and tell of this side's. */
const untrusted = /^(?!ERR_SSL_).*(CERT|SELF_SIGNED|UNABLE_TO_)|^(HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)$/;

/** The other side speaks no TLS, or none that fits. Bun's `EPROTO` is not among these, for the same reason. */
const noHandshake =
  /^ERR_TLS_HANDSHAKE_TIMEOUT$|^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNSUPPORTED_PROTOCOL|TLSV1_UNRECOGNIZED_NAME|.*_ALERT_(PROTOCOL_VERSION|HANDSHAKE_FAILURE))$/;

/**
 * Where there is no code that tells: Deno, Node of a TLS connection that was closed half-made, Node of a port that `fetch`
 * calls nobody at (such as 6000, in the standard's list of bad ports), and undici of a proxy that refuses to make a tunnel.
 */
const neverConnected =
  /client error \(Connect\)|disconnected before secure TLS connection was established|^bad port$|^Proxy response \(\d+\) !== 200/;

/** How Node, Bun and Deno say that they refuse a redirect. */
const redirected = /^unexpected redirect$|^UnexpectedRedirect\b|redirect mode is set to 'error'/;

/** What Bun and Deno say around the fault itself: an address with its query, and advice that is not for callers of the SDK. */
const chatter =
  /^error sending request .*?: client error \(\w+\): | fetching "[^"]*"|\. For more information, pass `verbose.*$/g;

interface Fault {
  readonly code: string | undefined;
  /** What the system was asked for when it failed; Node alone tells. */
  readonly syscall: string | undefined;
  readonly message: string;
}

/** Looks through the causes for the one that names a code, down to the first of an aggregate. */
function findFault(thrown: Thrown): Fault {
  let fault: Fault = { code: undefined, syscall: undefined, message: thrown.message || thrown.name };
  for (let current: Thrown | undefined = thrown; current?.isError; current = current.cause) {
    const code = current.details.get("code");
    fault = { code, syscall: current.details.get("syscall"), message: current.message || fault.message };
    // An aggregate, as Node throws one when it has tried every address of a name, has a code but does not say what failed.
    if (code !== undefined && !current.several) break;
  }
  return fault;
}

/** Whether the request certainly never left. */
function neverLeft({ code = "", syscall, message }: Fault): boolean {
  if (syscall === "connect") return true;
  // An established connection can end with any of the codes, too.
  if (syscall === "read" || syscall === "write") return false;
  return unreachable.has(code) || untrusted.test(code) || noHandshake.test(code) || neverConnected.test(message);
}

/** `fetch` itself refuses such a redirect, which does not tell the status or the target. */
const refusedRedirect = (endpoint: string): RedirectError =>
  new RedirectError({
    endpoint,
    message: "a redirect, which is never followed",
    response: { status: 0, headers: {}, body: undefined },
  });

/**
 * Node's `fetch` hides a 407: it throws a network error without a message, and its stack is all that says so. The service has not
 * received the request.
 */
const refusedByProxy = ({ cause }: Thrown): boolean =>
  cause?.message === "" &&
  /^\s+at makeNetworkError .*\n\s+at (async )?httpNetworkOrCacheFetch /m.test(cause.stack ?? "");

const proxyError = (endpoint: string): ApiError =>
  new ApiError({ endpoint, message: proxyMessage, response: { status: 407, headers: {}, body: undefined } });

/** KeyedMutex what a `fetch` throws into an error that says whether the service may have received the request. */
export function toConnectionError(error: unknown, endpoint: string, redact: Redact): ConnectionError | ApiError {
  const early = attempt(() => (error instanceof NeverSent ? error : undefined));
  const thrown = readThrown(early === undefined ? error : early.error);
  if (refusedByProxy(thrown)) return proxyError(endpoint);
  const fault = findFault(thrown);
  if (redirected.test(fault.message)) return refusedRedirect(endpoint);
  const { code = "" } = fault;
  const message = redact(fault.message.replace(chatter, ""));
  const reason = code === "" || message.includes(code) ? message : redact(`${message} (${code})`);
  return new ConnectionError({
    endpoint,
    reason,
    sent: early === undefined && !neverLeft(fault),
    cause: harmless(thrown, redact),
  });
}
