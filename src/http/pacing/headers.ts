import { parseList, Token } from "structured-headers";

/** What the headers of one response report about one policy. Absent or implausible parts are undefined. */
export interface PolicyReport {
  readonly quota: number | undefined;
  /** Milliseconds. */
  readonly window: number | undefined;
  readonly remaining: number | undefined;
  /** Whether it reports less than one token, by `r` or by `t`. */
  readonly empty: boolean;
}

/** What the headers of one response report, by policy. */
export type RateLimitReport = ReadonlyMap<string, PolicyReport>;

/** Changes the name of a policy. */
export type Rename = (name: string) => string;

type Parameters = ReturnType<typeof parseList>[number][1];

/** A larger quota is implausible. */
const maxQuota = 1e10;
/** A longer window is implausible, in seconds: 366 days. */
const maxWindow = 366 * 86_400;

/** The policies in a structured-field list (RFC 9651). An invalid list counts as absent, and a name is a string or a token. */
function* policiesIn(text: string | null, rename: Rename): Generator<readonly [name: string, parameters: Parameters]> {
  if (text === null) return;
  let list: ReturnType<typeof parseList>;
  try {
    list = parseList(text);
  } catch {
    return;
  }
  for (const [name, parameters] of list) {
    if (typeof name === "string" || name instanceof Token) yield [rename(name.toString()), parameters];
  }
}

function numberOf(parameters: Parameters, key: string): number | undefined {
  const value = parameters.get(key);
  return typeof value === "number" && value >= 0 ? value : undefined;
}

/** What `q` and `w` report together: one without the other is implausible, and so is a window of zero or a quota of less than a token. */
function sizeOf(parameters: Parameters): Pick<PolicyReport, "quota" | "window"> {
  const quota = numberOf(parameters, "q") ?? 0;
  const seconds = numberOf(parameters, "w") ?? 0;
  const plausible = quota >= 1 && quota <= maxQuota && seconds > 0 && seconds <= maxWindow;
  return plausible ? { quota, window: seconds * 1_000 } : { quota: undefined, window: undefined };
}

/** What a response's `X-RateLimit-Policy` reports: the quota and the window of each policy. */
function parsePolicies(text: string | null, rename: Rename): RateLimitReport {
  const policies = [...policiesIn(text, rename)];
  return new Map(policies.map(([name, sizes]) => [name, { ...sizeOf(sizes), remaining: undefined, empty: false }]));
}

/** Adds to the policies what a response's `X-RateLimit` reports: the remaining tokens of each. */
function addLevels(policies: RateLimitReport, text: string | null, rename: Rename): RateLimitReport {
  const report = new Map(policies);
  for (const [name, parameters] of policiesIn(text, rename)) {
    const { quota, window } = report.get(name) ?? {};
    const remaining = numberOf(parameters, "r");
    const empty = (remaining ?? 1) < 1 || (numberOf(parameters, "t") ?? 0) > 0;
    report.set(name, { quota, window, remaining, empty });
  }
  return report;
}

/** Reads the rate-limit headers of a client's responses. What is the same as in the response before is not parsed again. */
export class RateLimitReader {
  #policyText: string | null = null;
  #policies: RateLimitReport = new Map();
  #levelText: string | null = null;
  #report = this.#policies;
  readonly #rename: Rename;

  /** @param rename Changes the name of each policy, the only text that is kept of the headers. Default: no change. */
  constructor(rename: Rename = (name) => name) {
    this.#rename = rename;
  }

  /** Reads `X-RateLimit-Policy` (`q`, `w`) and `X-RateLimit` (`r`, `t`) of a response (specification 8). */
  read(headers: Pick<Headers, "get">): RateLimitReport {
    const policyText = headers.get("x-ratelimit-policy");
    const levelText = headers.get("x-ratelimit");
    const isKnown = policyText === this.#policyText;
    if (isKnown && levelText === this.#levelText) return this.#report;
    if (!isKnown) this.#policies = parsePolicies(policyText, this.#rename);
    this.#report = addLevels(this.#policies, levelText, this.#rename);
    this.#policyText = policyText;
    this.#levelText = levelText;
    return this.#report;
  }
}
