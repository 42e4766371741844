/** Where a call was made: a stack that is captured now and written out only when it is read. */
export interface CallSite {
  readonly stack?: string;
}

/** Captures the stack above `below`, the SDK's own function that the caller's code came in by. */
export function captureCallSite(below: (...arguments_: never[]) => unknown): CallSite {
  const site: CallSite = {};
  Error.captureStackTrace?.(site, below);
  return site;
}

/** The frames alone, without the line that names the error. */
export const framesOf = ({ stack = "" }: CallSite): string =>
  stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .join("\n");
