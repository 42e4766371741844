import { RateLimitError } from "../../errors/api.ts";

/** A token that comes within so many milliseconds is always waited for: no `Retry-After` asks for less. */
export const soon = 1_000;

/** A header that puts the next token further away than so many milliseconds may be wrong. */
const doubtful = 120_000;

/** Whether a token is so far away that nobody waits for it, and a request has to look again before it is due. */
export const isDoubtful = (ms: number, patience = 0): boolean => ms > Math.max(patience, doubtful);

/** A policy, and the milliseconds until something happens to it. */
export interface Wait {
  readonly policy: string;
  readonly ms: number;
}

/** The error of a call that would wait for a token for longer than `most` milliseconds: it was not sent. */
export function tooFarError(endpoint: string, { policy, ms }: Wait, most: number): RateLimitError {
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
