import { PodPartnerError } from "./base.ts";

/** Where a call was made. Its stack is written out only when it is read. */
export interface CallSite {
  readonly stack?: unknown;
}

/** The method that was called and the caller's next frames. Each frame costs at every call, and most calls never need one. */
const few = 4;

/** Enough for what is captured once for many calls, below more frames of the SDK's. */
export const manyFrames = 10;

/** Captures the stack from the caller of `inside` on: that function's own frame, and those within it, are the SDK's. */
export function captureCallSite(
  inside: (...given: never[]) => unknown = captureCallSite,
  frames: number = few,
): CallSite {
  const site: CallSite = {};
  const limit = Error.stackTraceLimit;
  // A hardened realm has frozen `Error`: an assignment would throw there. Such a realm keeps its own limit.
  Reflect.set(Error, "stackTraceLimit", Math.min(frames, limit));
  Error.captureStackTrace?.(site, inside);
  Reflect.set(Error, "stackTraceLimit", limit);
  return site;
}

/** A program's own `Error.prepareStackTrace` may make anything of a stack: often the call sites themselves. */
function linesOf(site: CallSite): readonly string[] {
  try {
    const { stack } = site;
    if (Array.isArray(stack)) return stack.map((frame) => `    at ${frame}`);
    return typeof stack === "string" ? stack.split("\n") : [];
  } catch {
    // It may throw, too. What it would have told is lost; the error that is being told is not.
    return [];
  }
}

/** The frames, without the line that names the error. */
export const framesOf = (site: CallSite): string =>
  linesOf(site)
    .filter((line) => /^\s+at /.test(line))
    .join("\n");

/** Adds the frames of where a series of calls was begun to the error of one of them, unless they are there. */
export function withCallSite(error: unknown, site: CallSite): unknown {
  // A caller's own reason for an abort stays as it is.
  if (!(error instanceof PodPartnerError)) return error;
  const known = linesOf(error);
  const missing = framesOf(site)
    .split("\n")
    .filter((frame) => frame !== "" && !known.includes(frame));
  if (missing.length > 0) error.stack = [...known, ...missing].join("\n");
  return error;
}
