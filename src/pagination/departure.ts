/** The number of turns of the event loop after which `fetch` has written a request to an open connection. Node's takes one to three. */
const turns = 3;

/**
 * Read when the module loads, so that the fake timers of a test runner do not stop it. Browsers have none, and need none: they send from
 * another thread.
 */
const nextTurn: typeof setImmediate | undefined = globalThis.setImmediate;

/**
 * Waits until a request that was just made has left the process, because a caller that blocks the thread would delay it. Ends at the
 * latest after three turns of the event loop, or when the response arrives.
 */
export function departure(response: Promise<unknown>): Promise<void> {
  if (nextTurn === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    let remaining = turns;
    const end = () => {
      remaining = 0;
      resolve();
    };
    const turn = () => {
      if (remaining <= 0) return end();
      remaining -= 1;
      nextTurn(turn);
    };
    response.then(end, end);
    turn();
  });
}
