import { notify } from "../live/actions.ts";

/** Copies text to the clipboard. A page that is not on a secure origin has no clipboard, and then shows the text to select. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify(`Copied ${what}`);
  } catch {
    notify(text);
  }
}
