/** Where a call was made. Its stack is written out only when it is read; an `Error` is the cheapest way to capture one. */
export type CallSite = Error;

/** Captures the stack. The SDK's own first frames are left out later, by {@link framesOf}. */
export const captureCallSite = (): CallSite => new Error();

/** The frames without the line that names the error, and without the first `skip`: those of the SDK's inside. */
export const framesOf = ({ stack = "" }: CallSite, skip: number): string =>
  stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(skip)
    .join("\n");
