import { commonFlags } from "./arguments.ts";
import type { Command } from "./command.ts";
import { type Flags, takesValue } from "./flags.ts";
import { columns, paint, wrap } from "./terminal.ts";

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
export function commandHelp({ name, summary, flags, notes }: Command): readonly string[] {
  return [
    summary,
    "",
    `${title("Usage")}  pod-partner ${name} [options]`,
    "",
    title("Options"),
    ...table(flagRows({ ...flags, ...commonFlags })),
    ...notes.flatMap((note) => ["", ...wrap(note, columns())]),
  ];
}

/** The help of the program. */
export function programHelp(commands: readonly Command[]): readonly string[] {
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
