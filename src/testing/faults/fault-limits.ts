import type { Endpoint } from "../../http/endpoint/endpoint.ts";
import type { RateLimiter } from "../http/rate-limit.ts";
import type { Fault, StatusFault } from "./fault.ts";

const isJson = (type: string): boolean => type.split(";")[0]?.trim().toLowerCase() === "application/json";

/**
 * Whether a fault's answer is one that the service itself makes: an error object, or JSON. A status without a code, a page or
 * a redirect comes from somewhere between, and a 401 has not been authenticated.
 */
function isOfService(fault: Fault): boolean {
  if (fault.fault === "status") return fault.code !== undefined && fault.status !== 401;
  return fault.fault === "body" && isJson(fault.type ?? "application/json");
}

const isRateLimited = (fault: Fault): fault is StatusFault =>
  fault.fault === "status" && fault.status === 429 && fault.code === "rate_limited";

/** Milliseconds until the bucket that the fault reports as empty has a token. */
const nextTokenIn = ({ retryAfter }: StatusFault): number => (typeof retryAfter === "number" ? retryAfter : 1000);

/**
 * Gives a fault's answer the rate-limit headers that every authenticated answer of the service carries (specification 8, rule 2). A
 * `rate_limited` names the bucket of the endpoint's own as empty, or `default` where it has none.
 */
export function addRateLimits(
  response: Response,
  fault: Fault,
  policies: Endpoint["policies"],
  limiter: RateLimiter,
): void {
  if (!isOfService(fault)) return;
  const limited = isRateLimited(fault);
  // The request has drawn its tokens, as any other that the service sees; one that is refused for them has not.
  if ("when" in fault && fault.when === "before" && !limited) limiter.take(policies);
  const policy = policies.at(-1);
  const empty = limited && policy !== undefined ? { policy, nextTokenIn: nextTokenIn(fault) } : undefined;
  for (const [name, value] of Object.entries(limiter.headers(policies, empty))) response.headers.set(name, value);
}
