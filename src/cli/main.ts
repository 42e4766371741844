import { nearest } from "../schemas/messages.ts";
import { assertRuntime, version } from "../util/runtime.ts";
import {
  type Command,
  commonFlags,
  exitCodes,
  Failure,
  type Flags,
  readArguments,
  takesValue,
  usage,
} from "./arguments.ts";
import { conform } from "./conform.ts";
import { dev } from "./dev.ts";
import { doctor } from "./doctor.ts";
import { emulator } from "./emulator.ts";
import { init } from "./init.ts";
import { simulate } from "./simulate.ts";
import { columns, paint, print, printError, wrap } from "./terminal.ts";
import { verify } from "./verify.ts";

const gap = "  ";

/** Two columns: names, and texts that are wrapped beside them. */
function table(rows: readonly (readonly [name: string, text: string])[]): readonly string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  const room = Math.max(columns() - width - 2 * gap.length, 20);
  return rows.flatMap(([name, text]) =>
    wrap(text, room).map((line, index) => `${gap}${(index === 0 ? name : "").padEnd(width)}${gap}${line}`),
  );
}

const flagRows = (flags: Flags) =>
  Object.entries(flags).map(
    ([name, flag]) => [takesValue(flag) ? `--${name} <${flag.placeholder}>` : `--${name}`, flag.help] as const,
  );

const title = (text: string): string => paint("bold", text);

/** The help of one command. */
function commandHelp({ name, summary, flags, notes, program, operand }: Command): readonly string[] {
  const own = operand === undefined ? "" : ` [${operand}]`;
  return [
    summary,
    "",
    `${title("Usage")}  pod-partner ${name}${own} [options]${program === true ? " -- <command>" : ""}`,
    "",
    title("Options"),
    ...table(flagRows({ ...flags, ...commonFlags })),
    ...notes.flatMap((note) => ["", ...wrap(note, columns())]),
  ];
}

/** The help of the program. */
function programHelp(commands: readonly Command[]): readonly string[] {
  return [
    "Tools for the Print-on-Demand Partner API v2.",
    "",
    `${title("Usage")}  pod-partner <command> [options]`,
    "",
    title("Commands"),
    ...table(commands.map(({ name, summary }) => [name, summary] as const)),
    "",
    title("Options"),
    ...table(flagRows(commonFlags)),
    "",
    "The options of a command: pod-partner <command> --help",
  ];
}

const commands = [emulator, dev, init, verify, simulate, doctor, conform];

async function run([first, ...rest]: readonly string[]): Promise<number> {
  const command = commands.find(({ name }) => name === first);
  if (command === undefined) {
    if (first !== undefined && !first.startsWith("-")) throw unknownCommand(first);
    const values = readArguments(first === undefined ? [] : [first, ...rest], {});
    print(...(values.version ? [version] : programHelp(commands)));
    return 0;
  }
  // What follows `--` is the user's own program, with its own options.
  const end = command.program === true ? rest.indexOf("--") : -1;
  const [own, program] = end < 0 ? [rest, []] : [rest.slice(0, end), rest.slice(end + 1)];
  const operands = command.operand === undefined ? 0 : own.findIndex((one) => one.startsWith("-"));
  const [given, options] = operands < 0 ? [own, []] : [own.slice(0, operands), own.slice(operands)];
  if (given.length > 1) throw usage("There is an argument too many: one name is expected.");
  const values = readArguments(options, command.flags);
  if (values.help || values.version) {
    print(...(values.help ? commandHelp(command) : [version]));
    return 0;
  }
  return command.run(values, command.operand === undefined ? program : given);
}

function unknownCommand(name: string): Failure {
  const names = commands.map((command) => command.name);
  const likely = nearest(name, names);
  return usage(
    `${JSON.stringify(name)} is an unknown command. ${likely === undefined ? `The commands are ${names.join(", ")}.` : `Did you mean ${likely}?`}`,
  );
}

/** The help that explains the failed arguments. */
const helpFor = ([first]: readonly string[]): string =>
  commands.some(({ name }) => name === first) ? ` (pod-partner ${first} --help)` : " (pod-partner --help)";

/** Prints an error that a user can correct as one line, and the stack of a defect. Returns the exit code. */
function report(error: unknown, args: readonly string[]): number {
  if (error instanceof Failure) {
    printError(`pod-partner: ${error.message}${error.isUsage ? helpFor(args) : ""}`);
    return error.exitCode;
  }
  printError(error instanceof Error ? String(error.stack) : String(error));
  return exitCodes.failed;
}

/** Returns what is wrong with this version of Node; undefined when it is supported. */
function runtimeFault(): string | undefined {
  try {
    assertRuntime();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Runs the program. Returns its exit code. */
export async function main(args: readonly string[]): Promise<number> {
  // A reader such as `head` can close the output early.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    printError(`pod-partner: The output cannot be written: ${error.message}.`);
    process.exit(exitCodes.failed);
  });
  const fault = runtimeFault();
  if (fault !== undefined) {
    printError(fault);
    return exitCodes.failed;
  }
  try {
    return await run(args);
  } catch (error) {
    return report(error, args);
  }
}
