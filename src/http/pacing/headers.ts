import { parseList, Token } from "structured-headers";

/** What the headers of one answer say about one policy. Times in milliseconds. */
export interface PolicyReport {
  readonly quota?: number;
  readonly window?: number;
  readonly remaining?: number;
}

/** What the headers of one answer say, by policy. */
export type RateLimitReport = ReadonlyMap<string, PolicyReport>;

type Parameters = ReadonlyMap<string, number>;

const nothing: RateLimitReport = new Map();

/** Policies change seldom: the same text is parsed once. */
let lastPolicy = { text: "", parsed: new Map<string, Parameters>() };

/** The names and number parameters of a structured-field list (RFC 9651). A broken list is taken as absent. */
function parsePolicies(text: string): Map<string, Parameters> {
  const policies = new Map<string, Parameters>();
  try {
    for (const [value, parameters] of parseList(text)) {
      const name = value instanceof Token ? value.toString() : value;
      if (typeof name !== "string") continue;
      const numbers = new Map<string, number>();
      for (const [key, number] of parameters) {
        if (typeof number === "number" && Number.isFinite(number) && number >= 0) numbers.set(key, number);
      }
      policies.set(name, numbers);
    }
  } catch {
    policies.clear();
  }
  return policies;
}

function policyHeader(text: string): Map<string, Parameters> {
  if (text !== lastPolicy.text) lastPolicy = { text, parsed: parsePolicies(text) };
  return lastPolicy.parsed;
}

const positive = (value: number | undefined) => (value !== undefined && value > 0 ? value : undefined);

/** Reads `X-RateLimit-Policy` (`q`, `w`) and `X-RateLimit` (`r`) of an answer (specification 8). Absent or absurd parts are left out. */
export function parseRateLimit(headers: Headers): RateLimitReport {
  const limit = headers.get("x-ratelimit");
  const policy = headers.get("x-ratelimit-policy");
  if (limit === null && policy === null) return nothing;
  const quotas = policyHeader(policy ?? "");
  const levels = limit === null ? new Map<string, Parameters>() : parsePolicies(limit);
  const report = new Map<string, PolicyReport>();
  for (const name of new Set([...quotas.keys(), ...levels.keys()])) {
    const quota = quotas.get(name);
    const window = positive(quota?.get("w"));
    report.set(name, {
      ...(positive(quota?.get("q")) !== undefined && window !== undefined
        ? { quota: quota?.get("q"), window: window * 1000 }
        : {}),
      remaining: levels.get(name)?.get("r"),
    });
  }
  return report;
}
