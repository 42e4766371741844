import { PodPartnerError } from "./base.ts";

/** Where a call was made. The stack is formatted only when it is read. */
export interface CallSite {
  readonly stack?: unknown;
}

/** Captures the stack, starting at the caller of `inside`. The frame of `inside` and those above it belong to the SDK. */
export function captureCallSite(inside: (...given: never[]) => unknown = captureCallSite): CallSite {
  const site: CallSite = {};
  Error.captureStackTrace?.(site, inside);
  return site;
}

/** Splits a stack into lines. A custom `Error.prepareStackTrace` can return any value, often the array of call sites. */
function linesOf(site: CallSite): readonly string[] {
  try {
    const { stack } = site;
    if (Array.isArray(stack)) return stack.map((frame) => `    at ${frame}`);
    return typeof stack === "string" ? stack.split("\n") : [];
  } catch {
    // A custom `prepareStackTrace` can also throw. The frames are lost, but the original error is still reported.
    return [];
  }
}

/** The frames of a stack, without the line with the error's name and message. */
export const framesOf = (site: CallSite): string =>
  linesOf(site)
    .filter((line) => /^\s+at /.test(line))
    .join("\n");

/** Adds the frames where a call or a series of calls began to an error of the SDK, unless they are already in its stack. */
export function withCallSite(error: unknown, site: CallSite): unknown {
  // The caller's abort reason stays unchanged.
  if (!(error instanceof PodPartnerError)) return error;
  const known = linesOf(error);
  const missing = framesOf(site)
    .split("\n")
    .filter((frame) => frame !== "" && !known.includes(frame));
  if (missing.length > 0) error.stack = [...known, ...missing].join("\n");
  return error;
}
