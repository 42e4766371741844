import { styleText } from "node:util";

/** Columns that a text is wrapped to at most. */
const widest = 80;

type Format = Parameters<typeof styleText>[0];

/** Colours a text for the standard output: only on a terminal, and not with NO_COLOR. */
export const paint = (format: Format, text: string): string => styleText(format, text, { stream: process.stdout });

/** Prints lines to the standard output. */
export const print = (...lines: readonly string[]): void => void process.stdout.write(`${lines.join("\n")}\n`);

/** Prints one line to the standard error output. */
export const printError = (line: string): void => void process.stderr.write(`${line}\n`);

/** The columns of the standard output, at most 80. */
export const columns = (): number => Math.min(process.stdout.columns || widest, widest);

/** Breaks a text at spaces into lines of at most `width` characters. A longer word has a line of its own. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** A number with a noun: `1 order`, `2 orders`. */
export const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** Removes the line of {@link showProgress}. */
export function clearProgress(): void {
  if (process.stdout.isTTY) process.stdout.write("\r\u001b[K");
}

/** Shows how far the work is, on a terminal, in place of what it showed before. */
export function showProgress(done: number, all: number, text: string): void {
  if (!process.stdout.isTTY) return;
  clearProgress();
  process.stdout.write(` ${paint("dim", `…  ${done}/${all}  ${text}`.slice(0, columns() - 2))}`);
}
