import { builtIn } from "./runtime.ts";

/** Read at load, so that the fake timers of a test cannot stop the SDK. The global one of the edge runtime of Next.js throws. */
const setImmediate = builtIn("node:timers")?.setImmediate;

/** Waits for a turn of the event loop. Does nothing on a platform without `setImmediate`. */
export const nextTurn = (): Promise<void> | undefined =>
  setImmediate && new Promise((resolve) => setImmediate(resolve));
