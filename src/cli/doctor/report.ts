import { version } from "../../util/runtime.ts";
import { columns, paint, wrap } from "../terminal.ts";
import { type Check, checks, counted, type Status } from "./finding.ts";

const marks: Readonly<Record<Status, readonly [colour: Parameters<typeof paint>[0], mark: string]>> = {
  ok: ["green", "✓"],
  warning: ["yellow", "!"],
  failed: ["red", "✗"],
  skipped: ["dim", "–"],
};

const labelWidth = Math.max(...Object.values(checks).map((label) => label.length));
/** Mark, label and the gaps. */
const indent = labelWidth + 6;

/** The lines of one check: mark, label and message; below it what to do. */
export function checkLines([name, { status, message, action }]: Check): readonly string[] {
  const [colour, mark] = marks[status];
  const room = Math.max(columns() - indent, 20);
  const text = status === "skipped" ? (line: string) => paint("dim", line) : (line: string) => line;
  const [first = "", ...rest] = wrap(message, room).map(text);
  return [
    ` ${paint(colour, mark)}  ${checks[name].padEnd(labelWidth)}  ${first}`,
    ...rest.map((line) => " ".repeat(indent) + line),
    ...(action === undefined
      ? []
      : wrap(action, room - 2).map((line, index) => `${" ".repeat(indent)}${index === 0 ? "→" : " "} ${line}`)),
  ];
}

const countOf = (found: readonly Check[], wanted: Status): number =>
  found.filter(([, { status }]) => status === wanted).length;

/** The last line: whether everything is fine. */
export function summary(found: readonly Check[]): string {
  const [problems, warnings] = [countOf(found, "failed"), countOf(found, "warning")];
  const noted = warnings === 0 ? "" : `, ${counted(warnings, "warning")}`;
  if (problems > 0) return paint("red", `${counted(problems, "problem")}${noted}.`);
  return warnings > 0 ? paint("yellow", `No problem${noted}.`) : paint("green", "Everything is fine.");
}

export const isFine = (found: readonly Check[]): boolean => countOf(found, "failed") === 0;

/** The report for machines. Every check is in it, each with the same four keys. */
export const toJson = (found: readonly Check[]) => ({
  ok: isFine(found),
  version,
  checks: Object.fromEntries(
    found.map(([name, { status, message, action = null, details = {} }]) => [
      name,
      { status, message, action, details },
    ]),
  ),
});
