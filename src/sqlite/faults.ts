import { propertyOf } from "../util/foreign.ts";

/** The primary result codes of SQLite. */
const codes = { busy: 5, locked: 6, corrupt: 11, full: 13, protocol: 15, tooBig: 18, constraint: 19, notDatabase: 26 };

/** What an error means for the connection. */
export type Fault =
  /** Another process has the lock for a moment. */
  | "busy"
  /** The file, or a part of it, is not what SQLite wrote. */
  | "damaged"
  /** The change cannot happen; the connection is good. */
  | "refused"
  /** Anything else, such as a lost disk: the file is opened again. */
  | "broken";

const faults = new Map<number, Fault>([
  [codes.busy, "busy"],
  [codes.locked, "busy"],
  [codes.protocol, "busy"],
  [codes.corrupt, "damaged"],
  [codes.notDatabase, "damaged"],
  [codes.full, "refused"],
  [codes.tooBig, "refused"],
  [codes.constraint, "refused"],
]);

/** Reads an error of `node:sqlite`. The low byte of its extended code is the primary code. */
export function faultOf(error: unknown): Fault {
  const code = propertyOf(error, "errcode");
  return (typeof code === "number" ? faults.get(code & 0xff) : undefined) ?? "broken";
}
