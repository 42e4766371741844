import { computed, signal } from "@preact/signals";
import type { RequestSummary } from "../../../recorder/request-json.ts";
import { requests } from "../live/store.ts";
import { isError, isSlow, reasonOf, statusText } from "./outcome.ts";

/** The text of the filter. Each word must occur. */
export const text = signal("");

export const kinds = ["all", "errors", "slow", "faults"] as const;
type Kind = (typeof kinds)[number];
export const kind = signal<Kind>("all");

const isOfKind: Readonly<Record<Kind, (summary: RequestSummary) => boolean>> = {
  all: () => true,
  errors: isError,
  slow: isSlow,
  faults: ({ fault }) => fault !== null,
};

/** The words that find a request: its method, path, call, status (`429`, `4xx`), outcome and reason. */
function haystack(summary: RequestSummary): string {
  const { method, path, call, status, code, outcome } = summary;
  const hundreds = status === null ? "" : `${Math.floor(status / 100)}xx`;
  return [method, path, call, statusText(summary), hundreds, outcome, code, reasonOf(summary)?.text]
    .join(" ")
    .toLowerCase();
}

function matches(summary: RequestSummary, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const hay = haystack(summary);
  return words.every((word) => hay.includes(word));
}

/** The requests that pass the filter, newest first. */
export const filtered = computed(() => {
  const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const ofKind = isOfKind[kind.value];
  return requests.value.filter((summary) => ofKind(summary) && matches(summary, words));
});
