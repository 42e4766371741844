import { RedirectError } from "../errors/api.ts";
import { ConnectionError } from "../errors/connection.ts";
import type { Redact } from "./snapshot.ts";

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
 * Where there is no code that tells: Deno, Node of a TLS connection that was closed half-made, and Node of a port that `fetch`
 * calls nobody at (such as 6000, in the standard's list of bad ports).
 */
const neverConnected = /client error \(Connect\)|disconnected before secure TLS connection was established|^bad port$/;

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

/** Causes that are looked through. */
const deepest = 5;

/** What an error says by a name of its own. */
const property = (error: Error, name: string): string | undefined => {
  const value: unknown = Reflect.get(error, name);
  return typeof value === "string" ? value : undefined;
};

/** Looks through the causes for the one that names a code, down to the first of an aggregate. */
function findFault(error: unknown): Fault {
  let fault: Fault = { code: undefined, syscall: undefined, message: describe(error) };
  let current = error;
  for (let depth = 0; depth < deepest && current instanceof Error; depth++) {
    const code = property(current, "code");
    fault = { code, syscall: property(current, "syscall"), message: current.message || fault.message };
    // An aggregate, as Node throws one when it has tried every address of a name, has a code but does not say what failed.
    const parts: readonly unknown[] = current instanceof AggregateError ? current.errors : [];
    if (code !== undefined && parts.length === 0) break;
    current = parts[0] ?? current.cause;
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

/** What an error tells of its kind and place. All else that a partner's own `fetch` may hang on it could show the request. */
const told = ["code", "errno", "syscall", "hostname", "address", "port"];

/** A copy of what was thrown that has nothing but words of it, and the key in none of them. */
function harmless(thrown: unknown, redact: Redact, depth = 0): Error {
  if (!(thrown instanceof Error)) return new Error(redact(describe(thrown)));
  const error = new Error(redact(thrown.message));
  error.name = redact(thrown.name);
  error.stack = redact(`${thrown.stack}`);
  for (const name of told) {
    const value: unknown = Reflect.get(thrown, name);
    if (typeof value === "string" || typeof value === "number") Reflect.set(error, name, redact(String(value)));
  }
  const cause: unknown = thrown.cause ?? (thrown instanceof AggregateError ? thrown.errors[0] : undefined);
  if (cause !== undefined && depth < deepest) error.cause = harmless(cause, redact, depth + 1);
  return error;
}

/** What is no error, in words; of an object only its kind. */
const describe = (thrown: unknown): string =>
  typeof thrown === "object" || typeof thrown === "function" ? Object.prototype.toString.call(thrown) : String(thrown);

/** An upload's redirect is refused by `fetch` itself, which does not tell the status or the target. */
const refusedRedirect = (endpoint: string): RedirectError =>
  new RedirectError({
    endpoint,
    message: "a redirect, which is never followed",
    response: { status: 0, headers: {}, body: undefined },
  });

/** Turns what a `fetch` throws into an error that says whether the service may have received the request. */
export function toFault(thrown: unknown, endpoint: string, redact: Redact): ConnectionError | RedirectError {
  const fault = findFault(thrown);
  if (redirected.test(fault.message)) return refusedRedirect(endpoint);
  const { code = "" } = fault;
  const message = redact(fault.message.replace(chatter, ""));
  const reason = code === "" || message.includes(code) ? message : redact(`${message} (${code})`);
  return new ConnectionError({ endpoint, reason, sent: !neverLeft(fault), cause: harmless(thrown, redact) });
}
