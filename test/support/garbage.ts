import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

/** Collects garbage, as happens in any process sooner or later. */
export const collectGarbage: () => void = runInNewContext("gc");
