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

type List = ReturnType<typeof parseList>;

const nothing: RateLimitReport = new Map();

/** Parses a structured-field list (RFC 9651). An invalid list counts as absent. */
function parse(text: string | null): List {
  if (text === null) return [];
  try {
    return parseList(text);
  } catch {
    return [];
  }
}

/** Changes the name of a policy. */
export type Rename = (name: string) => string;

const unchanged: Rename = (name) => name;

/** A policy's name is a string or a token. */
function nameOf([value]: List[number], rename: Rename): string | undefined {
  if (typeof value === "string") return rename(value);
  return value instanceof Token ? rename(value.toString()) : undefined;
}

function numberOf([, parameters]: List[number], key: string): number | undefined {
  const value = parameters.get(key);
  return typeof value === "number" && value >= 0 ? value : undefined;
}

/** Limits of a plausible quota, and of a plausible window in seconds. */
const plausible = { quota: 1e10, window: 366 * 86_400 };
/** Drops an implausible value, such as a window of zero or a quota of less than a token. */
const orUndefined = (value: number | undefined, least: number, most: number) =>
  value === undefined || value === 0 || value < least || value > most ? undefined : value;

function parsePolicies(text: string | null, rename: Rename): RateLimitReport {
  const policies = new Map<string, PolicyReport>();
  for (const member of parse(text)) {
    const name = nameOf(member, rename);
    const quota = orUndefined(numberOf(member, "q"), 1, plausible.quota);
    const seconds = orUndefined(numberOf(member, "w"), 0, plausible.window);
    if (name === undefined) continue;
    const whole = quota !== undefined && seconds !== undefined;
    policies.set(name, {
      quota: whole ? quota : undefined,
      window: whole ? seconds * 1000 : undefined,
      remaining: undefined,
      empty: false,
    });
  }
  return policies;
}

interface Parsed {
  readonly text: string | null;
  readonly rename: Rename;
  readonly policies: RateLimitReport;
}

/** The text rarely changes: the same text is parsed once. */
let latestPolicies: Parsed = { text: null, rename: unchanged, policies: nothing };

function policiesOf(text: string | null, rename: Rename): RateLimitReport {
  if (text !== latestPolicies.text || rename !== latestPolicies.rename) {
    latestPolicies = { text, rename, policies: parsePolicies(text, rename) };
  }
  return latestPolicies.policies;
}

function parseLevels(text: string | null, rename: Rename, policies: RateLimitReport): RateLimitReport {
  const levels = parse(text);
  if (levels.length === 0) return policies;
  const report = new Map(policies);
  for (const member of levels) {
    const name = nameOf(member, rename);
    if (name === undefined) continue;
    const policy = policies.get(name);
    const remaining = numberOf(member, "r");
    const empty = (remaining ?? 1) < 1 || (numberOf(member, "t") ?? 0) > 0;
    report.set(name, { quota: policy?.quota, window: policy?.window, remaining, empty });
  }
  return report;
}

/** Responses that arrive together often report the same. */
let latest: Parsed & { readonly report: RateLimitReport } = { ...latestPolicies, report: nothing };

/**
 * Reads `X-RateLimit-Policy` (`q`, `w`) and `X-RateLimit` (`r`, `t`) of a response (specification 8).
 *
 * @param rename Changes the name of each policy, the only text that is kept of the headers. Default: no change.
 */
export function parseRateLimit(headers: Pick<Headers, "get">, rename: Rename = unchanged): RateLimitReport {
  const policies = policiesOf(headers.get("x-ratelimit-policy"), rename);
  const text = headers.get("x-ratelimit");
  if (policies !== latest.policies || text !== latest.text || rename !== latest.rename) {
    latest = { text, rename, policies, report: parseLevels(text, rename, policies) };
  }
  return latest.report;
}
