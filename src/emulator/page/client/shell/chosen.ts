import { signal } from "@preact/signals";

/** The name of the tab that is open; empty for the first. */
export const chosen = signal("");
