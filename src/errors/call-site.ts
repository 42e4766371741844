/** So many frames are kept: the SDK's own door and the caller's lines. More would cost more than the call's own work. */
const frames = 5;

/** Where a call was made: a stack that is captured now and written out only when it is read. */
export interface CallSite {
  readonly stack?: string;
}

/** Captures the stack above `below`, the SDK's own function that the caller's code came in by. */
export function captureCallSite(below: (...arguments_: never[]) => unknown): CallSite {
  const site: CallSite = {};
  if (Error.captureStackTrace === undefined) return { stack: new Error().stack };
  const limit = Error.stackTraceLimit;
  // Set for this one capture: at its usual length it would be the dearest part of a call.
  Error.stackTraceLimit = Math.min(frames, limit);
  Error.captureStackTrace(site, below);
  Error.stackTraceLimit = limit;
  return site;
}

/** The frames alone, without the line that names the error. */
export const framesOf = ({ stack = "" }: CallSite): string =>
  stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .join("\n");
