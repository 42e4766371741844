import { RateLimitError } from "../../errors/api.ts";
import type { Wait } from "./wait.ts";

/** A call always waits for a token that comes within this many milliseconds: no `Retry-After` asks for less. */
export const soon = 1_000;

/** A header that reports the next token further away than this many milliseconds may be wrong. It does not depend on `maxRetryAfter`. */
const doubtful = 120_000;

/** Whether a token is so far away that no call waits for it. A probe then checks the distance before the token is due. */
export const isDoubtful = (ms: number, patience = 0): boolean => ms > Math.max(patience, doubtful);

/** The error of a call whose next token is further away than `most` milliseconds. Its request was not sent. */
export function tooFarError(
  endpoint: string,
  { policy, ms }: Pick<Wait, "ms" | "policy">,
  most: number,
): RateLimitError {
  const distance = `comes in ${Math.ceil(ms / 1_000)} s, and \`retry.maxRetryAfter\` allows ${most / 1_000} s`;
  return new RateLimitError({
    endpoint,
    response: { status: 429, headers: {}, body: undefined },
    code: "rate_limited",
    message: `the next token of the policy ${JSON.stringify(policy)} ${distance}`,
    retryAfter: ms,
    unsent: true,
  });
}
