import { RedirectError } from "../errors/api.ts";
import { ConnectionError } from "../errors/connection.ts";
import type { Redact } from "./snapshot.ts";

/** Failures before a request can have left: the name was not resolved, nobody listened, or the connection was not secured. */
const neverSent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EAI_FAIL",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
  // Bun
  "ConnectionRefused",
  "FailedToOpenSocket",
  "DNSResolveFailed",
]);
const certificate = /CERT|SELF_SIGNED|ERR_TLS|UNABLE_TO_|ERR_SSL|EPROTO/;
/** Deno tells by words alone. */
const neverSentWords = /tcp connect error|dns error|invalid peer certificate|failed to lookup address/i;

interface Fault {
  readonly code: string | undefined;
  readonly message: string;
}

/** Looks through the causes for the one that names a code, down to the first of an aggregate. */
function findFault(error: unknown): Fault {
  let fault: Fault = { code: undefined, message: String(error) };
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    const code = "code" in current && typeof current.code === "string" ? current.code : undefined;
    fault = { code: code ?? fault.code, message: current.message || fault.message };
    if (code !== undefined) break;
    current = current instanceof AggregateError && current.errors.length > 0 ? current.errors[0] : current.cause;
  }
  return fault;
}

/** What a partner's own `fetch` throws may show the request's headers: then only its words are kept, without the key. */
function withoutKey(error: unknown, redact: Redact): unknown {
  const text = error instanceof Error ? `${error.stack} ${error.message} ${describe(error)}` : String(error);
  return redact(text) === text ? error : new Error(redact(error instanceof Error ? error.message : text));
}

/** All that an error carries, as text. */
function describe(error: Error, depth = 0): string {
  const own = Object.getOwnPropertyNames(error).map((name) => String(Reflect.get(error, name)));
  return own.join(" ") + (error.cause instanceof Error && depth < 5 ? describe(error.cause, depth + 1) : "");
}

/** An upload's redirect is refused by `fetch` itself, which does not tell the status or the target. */
const refusedRedirect = (endpoint: string): RedirectError =>
  new RedirectError({
    endpoint,
    message: "a redirect, which is never followed",
    response: { status: 0, headers: {}, body: undefined },
  });

/** Turns what a `fetch` throws into an error that says whether the service may have received the request. */
export function toFault(thrown: unknown, endpoint: string, redact: Redact): ConnectionError | RedirectError {
  const error = withoutKey(thrown, redact);
  const { code = "", message } = findFault(error);
  if (message === "unexpected redirect") return refusedRedirect(endpoint);
  const sent = !(neverSent.has(code) || certificate.test(code) || neverSentWords.test(message));
  const reason = code === "" || message.includes(code) ? message : `${message} (${code})`;
  return new ConnectionError({ endpoint, reason, sent, cause: error });
}
