/** Where a call was made. Its stack is written out only when it is read; an `Error` is the cheapest way to capture one. */
export type CallSite = Error;

/** The SDK's own frames and the caller's next ones. Each frame costs at every call, and most calls never need one. */
const frames = 7;

/** Captures the stack. The SDK's own first frames are left out later, by {@link framesOf}. */
export function captureCallSite(): CallSite {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = Math.min(frames, limit);
  const site = new Error();
  Error.stackTraceLimit = limit;
  return site;
}

/** The frames without the line that names the error, and without the first `skip`: those of the SDK's inside. */
export const framesOf = ({ stack = "" }: CallSite, skip: number): string =>
  stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(skip)
    .join("\n");

/** Adds the frames of where a series of calls was begun to the error of one of them, unless they are there. */
export function withCallSite(error: unknown, site: CallSite): unknown {
  if (!(error instanceof Error)) return error;
  const missing = framesOf(site, 1)
    .split("\n")
    .filter((frame) => !error.stack?.includes(frame));
  if (missing.length > 0) error.stack = [error.stack, ...missing].join("\n");
  return error;
}
