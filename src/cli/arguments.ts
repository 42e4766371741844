import { parseArgs } from "node:util";
import { nearest } from "../schemas/messages.ts";

/** The exit codes of the program. 0 means that everything is fine. */
export const exitCodes = {
  /** The work failed, or `doctor` found something wrong. */
  failed: 1,
  /** The arguments are wrong, or `conform` could not run. */
  usage: 2,
} as const;

/** An error that a user can correct. The program prints its message, which is one line, and exits with its code. */
export class Failure extends Error {
  readonly exitCode: number;
  /** Whether the help of the command explains it. */
  readonly isUsage: boolean;

  constructor(message: string, exitCode: number = exitCodes.failed, isUsage = false) {
    super(message);
    this.exitCode = exitCode;
    this.isUsage = isUsage;
  }
}

/** The arguments are wrong. */
export const usage = (message: string): Failure => new Failure(message, exitCodes.usage, true);

/** A flag without a value. */
interface Switch {
  readonly help: string;
}

/** A flag with a value. */
interface Flag<Value> extends Switch {
  /** What the value is, for the help: `number`. */
  readonly placeholder: string;
  /** What the value must be, for the message about an invalid one. */
  readonly expected: string;
  /** Returns undefined for an invalid value. */
  readonly read: (text: string) => Value | undefined;
  /** Adds the value of a repeated flag. Without it, the last one wins. */
  readonly add?: (before: Value, value: Value) => Value;
}

/** The flags of a command, by their names without dashes. */
export type Flags = Readonly<Record<string, Switch | Flag<unknown>>>;

/** The values of the given flags. A switch is true. */
export type FlagValues<Known extends Flags> = {
  readonly [Name in keyof Known]?: Known[Name] extends Flag<infer Value> ? Value : true;
};

export const takesValue = (flag: Switch | Flag<unknown>): flag is Flag<unknown> => "read" in flag;

/** A whole number from `least` to `most`. */
export const wholeNumber = (help: string, { least = 0, most = Number.MAX_SAFE_INTEGER, placeholder = "number" } = {}) =>
  ({
    help,
    placeholder,
    expected:
      most === Number.MAX_SAFE_INTEGER
        ? `a whole number, at least ${least}`
        : `a whole number from ${least} to ${most}`,
    read: (text: string) => {
      const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
      return value >= least && value <= most ? value : undefined;
    },
  }) satisfies Flag<number>;

/** A text of at least one character. */
export const text = (help: string, placeholder: string) =>
  ({
    help,
    placeholder,
    expected: "a text that is not empty",
    read: (value: string) => (value.trim() === "" ? undefined : value.trim()),
  }) satisfies Flag<string>;

/** Texts with commas between them. A repeated flag adds to them. */
export const list = (help: string, placeholder: string) =>
  ({ ...text(help, placeholder), add: (before: string, value: string) => `${before},${value}` }) satisfies Flag<string>;

/** One of some words. */
export const oneOf = <Word extends string>(help: string, words: readonly Word[]) =>
  ({
    help,
    placeholder: "what",
    expected: words.join(", ").replace(/, (?!.*, )/, " or "),
    read: (value: string) => words.find((word) => word === value),
  }) satisfies Flag<Word>;

/** A decimal number, at least 0. */
export const decimal = (help: string) =>
  ({
    help,
    placeholder: "number",
    expected: "a number, at least 0",
    read: (value: string) => {
      const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
      return Number.isFinite(number) ? number : undefined;
    },
  }) satisfies Flag<number>;

/** The flags that every command has. */
export const commonFlags = {
  help: { help: "Print this help." },
  version: { help: "Print the version of the package." },
} satisfies Flags;

const shortNames: Readonly<Record<string, string>> = { h: "help", v: "version" };

/** Names that people try for the key. A key in the arguments is visible to other users of the machine. */
const keyNames: ReadonlySet<string> = new Set([
  "secret-key",
  "secretkey",
  "secret",
  "key",
  "api-key",
  "apikey",
  "token",
]);

function unknown(name: string, written: string, flags: Flags): Error {
  if (keyNames.has(name.toLowerCase())) {
    return usage(
      `${written} is an unknown option: other users of the machine can see arguments. Set the environment variable POD_PARTNER_SECRET_KEY.`,
    );
  }
  const likely = nearest(
    `--${name}`,
    Object.keys(flags).map((flag) => `--${flag}`),
  );
  return usage(`${written} is an unknown option.${likely === undefined ? "" : ` Did you mean ${likely}?`}`);
}

/** Reads the value of one flag. Throws a `Failure` that says what the value must be. */
function readValue(
  name: string,
  flag: Switch | Flag<unknown>,
  { value, inlineValue: inline }: { readonly value: string | undefined; readonly inlineValue: boolean | undefined },
  before: unknown,
): unknown {
  if (!takesValue(flag)) {
    if (value !== undefined) throw usage(`--${name} takes no value.`);
    return true;
  }
  // `--port --quiet` most likely lacks the value of `--port`. `--port -1` has one.
  if (value === undefined || (!inline && /^-(?![\d.])/.test(value))) {
    throw usage(`--${name} needs a value: --${name} <${flag.placeholder}>.`);
  }
  const read = flag.read(value);
  if (read === undefined) throw usage(`--${name} expects ${flag.expected}, not ${JSON.stringify(value)}.`);
  return before === undefined || flag.add === undefined ? read : flag.add(before, read);
}

/**
 * Reads the arguments of a command. The last one of a repeated flag wins, unless the flag adds them up.
 *
 * @throws `Failure` when a flag is unknown, or its value is missing or invalid.
 */
export function readArguments<Known extends Flags>(
  args: readonly string[],
  known: Known,
): FlagValues<Known & typeof commonFlags> {
  const flags: Flags = { ...known, ...commonFlags };
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [name, { type: takesValue(flag) ? "string" : "boolean" } as const]),
  );
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const values: Record<string, unknown> = Object.create(null);
  for (const token of tokens) {
    if (token.kind === "positional") throw usage("There is an argument too many: only options are expected.");
    if (token.kind !== "option") continue;
    const name = token.rawName.startsWith("--") ? token.name : (shortNames[token.name] ?? token.name);
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
    if (flag === undefined) throw unknown(name, token.rawName, flags);
    values[name] = readValue(name, flag, token, values[name]);
  }
  return values as FlagValues<Known & typeof commonFlags>;
}

/** A command of the program. */
export interface Command<Known extends Flags = Flags> {
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  readonly flags: Known;
  /** Paragraphs below the options in the help. */
  readonly notes: readonly string[];
  /** Whether it runs a program of the user, which follows `--`. */
  readonly program?: true;
  /** What its one argument without dashes is, for the help. */
  readonly operand?: string;
  /** Does the work, with the program or the operand. Returns the exit code. */
  run(values: FlagValues<Known>, given: readonly string[]): Promise<number>;
}

/** Defines a command, with the types of its flags' values. */
export function command<const Known extends Flags>(definition: Command<Known>): Command;
export function command(definition: Command): Command {
  // Only `readArguments` makes the values, from the same flags.
  return definition;
}
