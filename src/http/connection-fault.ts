import { ConnectionError } from "../errors/connection.ts";

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

/** Turns what a `fetch` throws into an error that says whether the service may have received the request. */
export function toConnectionError(error: unknown, endpoint: string): ConnectionError {
  const { code = "", message } = findFault(error);
  const sent = !(neverSent.has(code) || certificate.test(code) || neverSentWords.test(message));
  const reason = code === "" || message.includes(code) ? message : `${message} (${code})`;
  return new ConnectionError({ endpoint, reason, sent, cause: error });
}
