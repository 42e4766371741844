/** Runs work, at most `most` at a time. More work waits in a queue. */
export function createSlots(most: number): <Value>(work: () => Promise<Value>) => Promise<Value> {
  let free = most;
  const queue: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => void queue.push(resolve));
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
