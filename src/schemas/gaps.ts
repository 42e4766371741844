import { readPackageFile } from "../util/package-file.ts";

/** A place where the specification shows nothing. */
export interface Gap {
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
  readonly options?: readonly string[];
  readonly controls?: readonly string[];
  /** The rows of `pod-partner conform` that measure it. Without them no request can decide it. */
  readonly conform?: readonly string[];
}

/** Reads every place where the specification shows nothing, in its order. The numbers are in use elsewhere: a new gap has the next one. */
export const readGaps = (): readonly Gap[] => JSON.parse(readPackageFile("src/schemas/gaps.json").toString());
