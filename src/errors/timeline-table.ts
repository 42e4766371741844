import type { TimelineEntry } from "./timeline.ts";

/** How many of the first and last steps of a long call the table shows. */
const shown = { first: 8, last: 12 };

/** Shortens a text to one line of at most 40 characters. */
const cell = (text: string): string => text.replace(/\s+/g, " ").slice(0, 40);
const ms = (time: number): string => `${Math.round(time)} ms`;

type Line = readonly [what: string, outcome: string, began: string, took: string];

const lineOf = ({ step, outcome, at, took }: TimelineEntry): Line => [step, cell(outcome), ms(at), ms(took)];

/**
 * Formats a timeline as a table: each step with its outcome, its start since the beginning of the call, and its duration.
 * Empty for a call of one attempt only: the error message already describes it.
 */
export function timelineTable(entries: readonly TimelineEntry[]): string {
  if (entries.length < 2 && entries.every(({ step }) => step === "attempt")) return "";
  const left = entries.length - shown.first - shown.last;
  const lines: Line[] = [["step", "outcome", "began", "took"]];
  if (left > 1) {
    lines.push(...entries.slice(0, shown.first).map(lineOf), ["…", `${left} more`, "", ""]);
    lines.push(...entries.slice(-shown.last).map(lineOf));
  } else {
    lines.push(...entries.map(lineOf));
  }
  const total = entries.reduce((end, { at, took }) => Math.max(end, at + took), 0);
  lines.push(["total", "", "", ms(total)]);

  const widthOf = (column: 0 | 1 | 2 | 3) => Math.max(...lines.map((line) => line[column].length));
  const [what, outcome, began, took] = [widthOf(0), widthOf(1), widthOf(2), widthOf(3)];
  const written = lines.map(
    (line) =>
      `  ${line[0].padEnd(what)}  ${line[1].padEnd(outcome)}  ${line[2].padStart(began)}  ${line[3].padStart(took)}`,
  );
  return written.join("\n");
}
