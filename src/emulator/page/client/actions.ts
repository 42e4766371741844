import { signal } from "@preact/signals";
import { refresh, run } from "./stream.ts";

interface Notice {
  readonly text: string;
  readonly bad: boolean;
}

/** The last result of a button, for the status line and for screen readers. */
export const notice = signal<Notice>();

/** Milliseconds for which a notice is shown. An error stays longer. */
const shownFor = { good: 4000, bad: 10_000 };

let hide: ReturnType<typeof setTimeout> | undefined;

export function notify(text: string, bad = false): void {
  clearTimeout(hide);
  notice.value = { text, bad };
  hide = setTimeout(() => dismiss(), bad ? shownFor.bad : shownFor.good);
}

export const dismiss = (): void => {
  notice.value = undefined;
};

/** Runs work for a button: shows its result or why it was refused. Returns whether it succeeded. */
export async function attempt(work: () => Promise<string>): Promise<boolean> {
  try {
    notify(await work());
    return true;
  } catch (error) {
    notify(error instanceof Error ? error.message : String(error), true);
    return false;
  }
}

/** Runs a control of the emulator, shows `done`, and reads the new state. */
export const act = <Result = unknown>(
  control: string,
  input: object,
  done: string | ((result: Result) => string),
): Promise<boolean> =>
  attempt(async () => {
    const result = await run<Result>(control, input);
    await refresh();
    return typeof done === "string" ? done : done(result);
  });

/** Copies text to the clipboard. A page that is not on a secure origin has no clipboard, and then shows the text to select. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify(`Copied ${what}`);
  } catch {
    notify(text);
  }
}
