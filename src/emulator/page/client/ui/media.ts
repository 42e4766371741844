import { signal } from "@preact/signals";

const narrow = matchMedia("(max-width: 899px)");

/** Whether the page shows one part at a time: on a phone, or in a narrow window. */
export const isNarrow = signal(narrow.matches);
narrow.addEventListener("change", () => {
  isNarrow.value = narrow.matches;
});
