/** Whole seconds, rounded up: the unit that the service's headers use (specification 8). */
export const toSeconds = (ms: number): number => Math.ceil(ms / 1000);

/** The header `Retry-After`: a number is milliseconds, a string is sent unchanged. */
export function retryAfterHeader(retryAfter: number | string | undefined): Readonly<Record<string, string>> {
  if (retryAfter === undefined) return {};
  return { "Retry-After": typeof retryAfter === "string" ? retryAfter : String(toSeconds(retryAfter)) };
}
