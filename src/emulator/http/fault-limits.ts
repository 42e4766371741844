import type { Endpoint } from "../../http/endpoint.ts";
import type { RateLimiter } from "../core/rate-limit.ts";
import type { Fault, StatusFault } from "../faults/fault.ts";

const isJson = (type: string): boolean => type.split(";")[0]?.trim().toLowerCase() === "application/json";

/**
 * Whether a fault's response looks like the service's own: an error object, or JSON. A status without a code, a page or a redirect
 * looks like a proxy's. A 401 has no rate-limit headers, because its request is not authenticated.
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
 * Adds the rate-limit headers that every authenticated response of the service carries (specification 8, rule 2). A `rate_limited`
 * reports the endpoint's last bucket as empty: `uploads` or `downloads` where the endpoint draws from it, otherwise `default`.
 */
export function addRateLimits(
  response: Response,
  fault: Fault,
  policies: Endpoint["policies"],
  limiter: RateLimiter,
): void {
  if (!isOfService(fault)) return;
  const limited = isRateLimited(fault);
  // A request that the service sees draws its tokens. A request that is refused as `rate_limited` draws none.
  if ("when" in fault && fault.when === "before" && !limited) limiter.take(policies);
  const policy = policies.at(-1);
  const empty = limited && policy !== undefined ? { policy, nextTokenIn: nextTokenIn(fault) } : undefined;
  for (const [name, value] of Object.entries(limiter.headers(policies, empty))) response.headers.set(name, value);
}
