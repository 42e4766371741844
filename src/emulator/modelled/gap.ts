import type { Switches } from "./switches.ts";

/** A place where the specification shows nothing, and what the emulator does there. */
export interface Gap extends Switches {
  /** The part of the specification. */
  readonly section: string;
  readonly notShown: string;
  /** What the emulator assumes. */
  readonly emulator: string;
  /** Files of the source, for the documentation. */
  readonly code: readonly string[];
}
