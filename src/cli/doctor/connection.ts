import { type Finding, failed, ok, skipped } from "./finding.ts";
import type { Probe } from "./probe.ts";
import type { Sdk } from "./settings.ts";

interface Cause {
  readonly kind: string;
  readonly words: RegExp;
  readonly message: (host: string) => string;
  /** What to do. Default: the hint of the SDK's error. */
  readonly action?: string;
}

/** Why no response came, by the words of the SDK's error. */
const causes: readonly Cause[] = [
  {
    kind: "dns",
    words: /\bENOTFOUND\b|\bEAI_/,
    message: (host) => `The host name of ${host} is unknown to the DNS.`,
    action: "Check the host name in the base URL, and the DNS settings of this machine.",
  },
  {
    kind: "refused",
    words: /\bECONNREFUSED\b/,
    message: (host) => `No program listens at ${host}.`,
    action: "Check host and port, or start an emulator: npx pod-partner emulator",
  },
  {
    kind: "no-tls",
    words: /does not speak TLS/,
    message: (host) => `${host} does not speak TLS.`,
  },
  {
    kind: "tls",
    words: /CERT|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|ERR_TLS|ERR_SSL|secure TLS connection/,
    message: (host) => `The certificate or the TLS version of ${host} is not accepted.`,
    action: "Check the host name and this machine's date. Name an authority of your own in NODE_EXTRA_CA_CERTS.",
  },
  {
    kind: "blocked-port",
    words: /\bbad port\b/,
    message: (host) => `\`fetch\` never connects to the port of ${host}: browsers block it, too.`,
    action: "Check the port in the base URL.",
  },
  {
    kind: "unreachable",
    words: /\bE(HOST|NET)UNREACH\b|\bENETDOWN\b|CONNECT_TIMEOUT|\bETIMEDOUT\b/,
    message: (host) => `${host} cannot be reached.`,
    action: "Check the network, the firewall and the VPN of this machine.",
  },
];

const hintOf = (error: unknown): string =>
  error instanceof Error && "hint" in error && typeof error.hint === "string" ? error.hint : "";

/** The words of an error, without the SDK's hint. */
const wordsOf = (error: unknown): string =>
  error instanceof Error ? error.message.replace(hintOf(error), "") : String(error);

/** The first line of an error, without the endpoint. */
const reasonOf = (error: unknown): string =>
  wordsOf(error)
    .split("\n")[0]
    ?.replace(/^No response from [^:]+: /, "")
    .replace(/\.? The request was not sent\.$/, "") ?? "";

function unreached(sdk: Sdk, error: unknown, host: string, timeout: number): Finding {
  const isLate = error instanceof sdk.RequestTimeoutError || error instanceof sdk.DeadlineError;
  if (isLate) {
    return failed(`${host} sent no complete response within ${timeout} ms.`, {
      action: "Check the network, the firewall and the proxy, or allow more time: --timeout 30000",
      details: { kind: "timeout" },
    });
  }
  const reason = reasonOf(error);
  const cause = causes.find(({ words }) => words.test(wordsOf(error)));
  if (cause !== undefined) {
    const { kind, message, action = hintOf(error) || "Check the port." } = cause;
    return failed(message(host), { action, details: { kind, reason } });
  }
  return failed(`No response came from ${host}: ${reason}.`, {
    action: "Check the network and the proxy. Run the command again: the connection may have broken once.",
    details: { kind: "broken", reason },
  });
}

/** Statuses that a service that speaks this API can return for a validation of the key. */
const understood: ReadonlySet<number> = new Set([200, 401, 403, 429]);

/** Checks that the service can be reached, and that it is this API. */
export function checkConnection(sdk: Sdk, { response, error }: Probe, url: URL, timeout: number): Finding {
  if (error instanceof sdk.RedirectError) {
    return failed(`${url.host} redirects to another address, and the SDK never follows a redirect.`, {
      action: "Use the address that it redirects to as the base URL.",
      details: { kind: "redirect" },
    });
  }
  if (response === undefined) return unreached(sdk, error, url.host, timeout);
  const { status, took } = response;
  if (status >= 500 && status !== 501) {
    return failed(`The service or a gateway fails with status ${status}.`, {
      action: "Run the command again later. Contact the operator's support if it persists.",
      details: { kind: "server-error", status, tookMs: took },
    });
  }
  if (!understood.has(status) || error instanceof sdk.ResponseValidationError) {
    return failed(`${url.host} responds, but not as this API: POST /auth/validate returned ${status}.`, {
      action: "Check the host and the path of the base URL, and whether a proxy responds in its place.",
      details: { kind: "another-service", status, tookMs: took },
    });
  }
  const tls = url.protocol === "https:" ? ", certificate accepted" : "";
  return ok(`Response in ${took} ms${tls}`, { details: { kind: null, status, tookMs: took } });
}

/** Checks what the service says about the key. */
export function checkKey(sdk: Sdk, { error }: Probe): Finding {
  if (error === undefined) return ok("The service accepts the key", { details: { accepted: true } });
  if (error instanceof sdk.AuthenticationError) {
    return failed("The service refuses the key (401).", {
      action:
        "Check that POD_PARTNER_SECRET_KEY is a v2 key of this environment. Keys are in the dashboard, under API settings; v1 keys do not work.",
      details: { accepted: false },
    });
  }
  if (error instanceof sdk.PermissionDeniedError) {
    return failed("The key may not use the API (403).", {
      action: "Make another key in the dashboard, or contact the operator's support.",
      details: { accepted: false },
    });
  }
  return skipped("Not checked: the rate limit of the organization is reached");
}
