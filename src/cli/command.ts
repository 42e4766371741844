import type { Flags, Values } from "./flags.ts";

/** A command of the program. */
export interface Command<Known extends Flags = Flags> {
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  readonly flags: Known;
  /** Paragraphs below the options in the help. */
  readonly notes: readonly string[];
  /** Does the work. Returns the exit code. */
  run(values: Values<Known>): Promise<number>;
}

/** Defines a command, with the types of its flags' values. */
export const command = <const Known extends Flags>(definition: Command<Known>): Command =>
  // Only `readArguments` makes the values, from the same flags.
  definition as unknown as Command;
