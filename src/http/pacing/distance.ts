/** A token that comes within so many milliseconds is always waited for: no `Retry-After` asks for less. */
export const soon = 1_000;

/** A header that puts the next token further away than so many milliseconds may be wrong. */
const doubtful = 120_000;

/** Whether a token is so far away that nobody waits for it, and a request has to look again before it is due. */
export const isDoubtful = (ms: number, patience = 0): boolean => ms > Math.max(patience, doubtful);
