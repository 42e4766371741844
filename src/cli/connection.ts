import type { Hooks, PodPartner, RateLimits } from "pod-partner";
import { counted, duration, type Finding, failed, ok, skipped, warning } from "./finding.ts";

/** The package's main entry point, which loads when the command runs. */
export type Sdk = typeof import("pod-partner");

/** What the doctor examines. */
export interface DoctorSettings {
  readonly baseUrl: string | undefined;
  readonly secretKey: string | undefined;
  /** Milliseconds for each request. */
  readonly timeout: number;
}

/** Sent when there is no valid key: the service then refuses the request, but the connection is checked. */
const noKey = "doctor-without-a-key";

/** What the SDK says about one option; undefined when it is valid. */
function issueOf(sdk: Sdk, option: "baseUrl" | "secretKey", options: { baseUrl: string; secretKey: string }) {
  try {
    new sdk.PodPartner(options);
    return undefined;
  } catch (error) {
    if (!(error instanceof sdk.ConfigurationError)) throw error;
    return error.issues.find(({ path }) => path[0] === option)?.message;
  }
}

const isLoopback = (url: URL): boolean => /^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);

/** A URL without what can be secret: credentials, query, fragment. */
const shown = (text: string): string | undefined => {
  const url = URL.parse(text);
  return url === null || url.origin === "null" ? undefined : url.origin + url.pathname;
};

/** The URL that the partner probably means, when only the end of the path is wrong. */
function corrected(text: string): string | undefined {
  const url = shown(text);
  return url?.replace(/\/+(v\d+\/*)?$/, "").concat("/v2");
}

/** Checks the form of the base URL. */
export function checkBaseUrl(sdk: Sdk, { baseUrl }: DoctorSettings): Finding {
  if (!baseUrl) {
    return failed("No base URL is set.", {
      action: "Set POD_PARTNER_BASE_URL, or pass --base-url. It ends in /v2 and selects the environment.",
      details: { url: null },
    });
  }
  const url = shown(baseUrl);
  const details = { url: url ?? null };
  const issue = issueOf(sdk, "baseUrl", { baseUrl, secretKey: noKey });
  if (issue !== undefined) {
    const proposal = /\/v2/.test(issue) ? corrected(baseUrl) : undefined;
    const action = proposal === undefined ? "Copy it again from the operator's documents." : `Try ${proposal}`;
    return failed(`${url ?? "The value is not valid:"} ${issue}.`, { action, details });
  }
  const parsed = new URL(baseUrl);
  if (parsed.protocol === "http:" && !isLoopback(parsed)) {
    const action = "Use https for a real service. In a private network with an emulator, http is fine.";
    return warning(`${url} is not encrypted: the key travels as plain text.`, { action, details });
  }
  return ok(String(url), { details });
}

/** Checks that there is a key of the right form; undefined when there is. Only a request shows whether it is valid. */
export function checkKeyForm(sdk: Sdk, { secretKey }: DoctorSettings): Finding | undefined {
  const details = { accepted: null };
  if (!secretKey) {
    const action = "Make a v2 key in the dashboard, under API settings, and set POD_PARTNER_SECRET_KEY.";
    return failed("POD_PARTNER_SECRET_KEY is not set.", { action, details });
  }
  const issue = issueOf(sdk, "secretKey", { baseUrl: "http://localhost/v2", secretKey });
  const action = "Copy the v2 key again from the dashboard, under API settings, without quotes and line ends.";
  return issue === undefined
    ? undefined
    : failed(`POD_PARTNER_SECRET_KEY is not a key: ${/^has /.test(issue) ? `it ${issue}` : issue}.`, {
        action,
        details,
      });
}

/** A client for a valid base URL. It never retries: the doctor reports what happens. */
function clientFor(sdk: Sdk, settings: DoctorSettings, hooks: Hooks): PodPartner {
  const { baseUrl, secretKey, timeout } = settings;
  return new sdk.PodPartner({
    baseUrl,
    secretKey: checkKeyForm(sdk, settings) === undefined ? secretKey : noKey,
    timeout,
    deadline: timeout,
    retry: { retries: 0 },
    responses: "report",
    hooks,
  });
}

/** The first request: a validation of the key. */
interface Probe {
  /** The client, for the next requests. */
  readonly partner: PodPartner;
  /** The response, also of an error status; undefined when none came. */
  readonly response: ProbeResponse | undefined;
  /** The error of the call; undefined when the key is valid. */
  readonly error: unknown;
  readonly rateLimits: RateLimits;
}

interface ProbeResponse {
  readonly status: number;
  /** Milliseconds since 1970, in the middle between request and response. */
  readonly at: number;
  /** Milliseconds from the request to the response. */
  readonly took: number;
  header(name: string): string | undefined;
}

type ProbeHead = Pick<ProbeResponse, "status" | "header">;

/** The head of an error's response. Status 0 means that `fetch` hid the response. */
function headOf(sdk: Sdk, error: unknown): ProbeHead | undefined {
  const hasResponse = error instanceof sdk.ApiError || error instanceof sdk.ResponseValidationError;
  if (!hasResponse || error.response.status === 0) return undefined;
  const { status, headers } = error.response;
  return { status, header: (name: string) => headers[name] };
}

/** Sends `POST /auth/validate`, which changes nothing. */
export async function probe(sdk: Sdk, settings: DoctorSettings): Promise<Probe> {
  // Loads Node's `fetch`, so that the measured time is that of the connection. It sends nothing.
  await fetch("data:,");
  let [sent, received] = [Date.now(), Date.now()];
  const partner = clientFor(sdk, settings, {
    onRequest: () => {
      sent = Date.now();
    },
    onResponse: () => {
      received = Date.now();
    },
  });
  const result = (head: ProbeHead | undefined, error: unknown): Probe => {
    const response = head && { ...head, at: (sent + received) / 2, took: received - sent };
    return { partner, response, error, rateLimits: partner.rateLimits };
  };
  try {
    const { response } = await partner.auth.validate().withResponse();
    const header = (name: string) => response.headers.get(name) ?? undefined;
    return result({ status: response.status, header }, undefined);
  } catch (error) {
    return result(headOf(sdk, error), error);
  }
}

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

/** What an error of the SDK says to do. */
export const hintOf = (error: unknown): string =>
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

/** A difference that makes claim windows, resets and dates in Retry-After wrong, in milliseconds. */
const wrong = 60_000;
const notable = 5_000;

/** Compares the service's `Date` header with this machine's clock. */
export function checkClock({ response }: Probe): Finding {
  const date = Date.parse(response?.header("date") ?? "");
  if (response === undefined || Number.isNaN(date)) return skipped("Not checked: the response has no date");
  // The header has whole seconds: on average it is half a second behind the service's clock.
  const differenceMs = Math.round(date + 500 - response.at);
  const apart = Math.abs(differenceMs);
  const details = { differenceMs };
  if (apart < notable) return ok("This machine and the service agree", { details });
  const message = `This machine is ${duration(apart)} ${differenceMs > 0 ? "behind" : "ahead of"} the service.`;
  const action =
    "Synchronise this machine's clock (NTP): deadlines of claims and token resets depend on it. An emulator can have a clock of its own.";
  return apart < wrong ? warning(message, { action, details }) : failed(message, { action, details });
}

/** Policies that a header names: `"default";r=2999;t=0`. */
const namesIn = (header: string): readonly string[] =>
  [...header.matchAll(/(?:^|,)\s*"?([\w-]+)"?\s*;/g)].map(([, name = ""]) => name);

/** Checks how many requests remain, by the rate-limit headers of the first response. */
export function checkRateLimits({ response, rateLimits }: Probe): Finding {
  if (response === undefined) return skipped("Not checked: no response came");
  const names = namesIn(response.header("x-ratelimit") ?? "").filter((name) => name in rateLimits.policies);
  if (names.length === 0) {
    if (response.status === 401) return skipped("Not checked: only responses to a valid key have them");
    return warning("The response has no X-RateLimit header, so the SDK uses the specification's limits.", {
      action: "Check whether a gateway or a proxy removes headers.",
      details: { policies: {} },
    });
  }
  const policies = names.flatMap((name) => {
    const limit = rateLimits.policies[name];
    return limit === undefined ? [] : [{ name, ...limit, remaining: Math.floor(limit.remaining) }];
  });
  const details = {
    policies: Object.fromEntries(
      policies.map(({ name, quota, window, remaining }) => [name, { quota, windowMs: window, remaining }]),
    ),
  };
  const texts = policies.map(
    ({ name, quota, window, remaining }) =>
      `${name}: ${remaining.toLocaleString("en")} of ${counted(quota, "request")} remain (refilled in ${duration(window)})`,
  );
  const message = texts.join("; ");
  const action = "Other programs of the organization use the same limit: see docs/rate-limits.md.";
  if (policies.some(({ remaining }) => remaining < 1)) return failed(`${message}.`, { action, details });
  if (policies.some(({ remaining, quota }) => remaining < quota / 10))
    return warning(`${message}.`, { action, details });
  return ok(message, { details });
}
