import { PodPartnerError } from "./base.ts";

/** The place of a call in the caller's code. The stack is formatted only when it is read. */
export interface CallSite {
  readonly stack?: unknown;
}

/** Captures the stack from the caller of `inside` on. The frame of `inside`, and the frames above it, belong to the SDK. */
export function captureCallSite(inside: (...given: never[]) => unknown = captureCallSite): CallSite {
  const site: CallSite = {};
  Error.captureStackTrace?.(site, inside);
  return site;
}

/**
 * Captures the caller's stack when a running call ends. Before the first `await` of the call, these are the frames below `inside`. After it,
 * these are the `async` functions that await the call, up to the caller's own. A call that the caller does not `await` has no such frames.
 */
export function callerOf(inside: (...given: never[]) => unknown): CallSite {
  const site = captureCallSite(inside);
  if (framesOf(site) !== "") return site;
  // Before them are frames of the SDK, and that of Node's queue.
  const lines = linesOf(captureCallSite(callerOf));
  const queue = lines.findLastIndex((line) => line.includes("node:internal/process/task_queues"));
  return { stack: lines.slice(queue + 1).join("\n") };
}

/** Splits a stack into lines. A custom `Error.prepareStackTrace` can return any value, often the array of call sites. */
function linesOf(site: CallSite): readonly string[] {
  try {
    const { stack } = site;
    if (Array.isArray(stack)) return stack.map((frame) => `    at ${frame}`);
    return typeof stack === "string" ? stack.split("\n") : [];
  } catch {
    // A custom `prepareStackTrace` threw. The frames are lost, but the original error is still reported.
    return [];
  }
}

const isFrame = (line: string): boolean => /^\s+at /.test(line);

/** The frames of a stack, without the line with the error's name and message. */
export const framesOf = (site: CallSite): string =>
  linesOf(site)
    .filter((line) => isFrame(line))
    .join("\n");

/** Adds the caller's frames to the stack of an error of the SDK, unless they are already there. */
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

/** Maximum number of rows in the stack of an error: many rows with the same pair can share one. */
const namedRows = 10;

/**
 * Replaces the frames in the stack of an error of the SDK by the row of a call for many rows, and the caller's frames. The replaced frames are
 * those of the SDK, which say nothing to the caller.
 */
export function withRow(error: unknown, row: number, site: CallSite): unknown {
  if (!(error instanceof PodPartnerError)) return error;
  const lines = linesOf(error);
  const named = lines.filter((line) => /^\s+at rows\[\d+\]$/.test(line));
  const own = `    at rows[${row}]`;
  if (named.length < namedRows && !named.includes(own)) named.push(own);
  error.stack = [...lines.filter((line) => !isFrame(line)), ...named, framesOf(site)].join("\n");
  return error;
}
