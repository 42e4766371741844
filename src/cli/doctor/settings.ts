import type { Hooks, PodPartner } from "pod-partner";
import { type Finding, failed, ok, warning } from "./finding.ts";

/** The package's main entry point, which loads when the command runs. */
export type Sdk = typeof import("pod-partner");

/** What the doctor examines. */
export interface Settings {
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
export function checkBaseUrl(sdk: Sdk, { baseUrl }: Settings): Finding {
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
export function checkKeyForm(sdk: Sdk, { secretKey }: Settings): Finding | undefined {
  const details = { accepted: null };
  if (!secretKey) {
    const action = "Make a v2 key in the dashboard, under API settings, and set POD_PARTNER_SECRET_KEY.";
    return failed("POD_PARTNER_SECRET_KEY is not set.", { action, details });
  }
  const issue = issueOf(sdk, "secretKey", { baseUrl: "http://localhost/v2", secretKey });
  const action = "Copy the v2 key again from the dashboard, under API settings, without quotes and line ends.";
  return issue === undefined
    ? undefined
    : failed(`POD_PARTNER_SECRET_KEY is not a key: ${issue}.`, { action, details });
}

/** A client for a valid base URL. It never retries: the doctor reports what happens. */
export function clientFor(sdk: Sdk, settings: Settings, hooks: Hooks): PodPartner {
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
