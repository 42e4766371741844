import { readPackageFile } from "../../util/package-file.ts";
import type { Switches } from "../http/route.ts";

/** What the emulator does for every endpoint, and what changes it. The routes say what is special about each. */
export const everyEndpoint = {
  models: "keys and permissions, rate limits, 501, isolated organizations, strict requests, faults on the way",
  options: ["keys", "organizations", "limits", "unavailable", "environment", "shapes", "clock"],
  controls: ["updateKey", "drain", "faults.add", "faults.remove", "faults.clear"],
} as const satisfies Switches & { readonly models: string };

/** A place where the specification shows nothing. */
export interface Gap extends Switches {
  readonly number: number;
  /** The part of the specification. */
  readonly section: string;
  readonly notShown: string;
  /** What the SDK assumes. */
  readonly sdk?: string;
  /** Where the SDK assumes it. */
  readonly code?: readonly string[];
  /** How a program overrides what the SDK assumes. */
  readonly override?: string;
  /** What the emulator assumes; `options` and `controls` change it. */
  readonly emulator?: string;
  /** The rows of `pod-partner conform` that measure it. Without them no request can decide it. */
  readonly conform?: readonly string[];
}

/** Reads every place where the specification shows nothing, in its order. The numbers are in use elsewhere: a new gap has the next one. */
export const readGaps = (): readonly Gap[] => JSON.parse(readPackageFile("src/schemas/gaps.json").toString());
