import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Runs work when a key is pressed, unless the reader types into a field. Escape works in fields, too. */
export function useShortcut(key: string, work: (event: KeyboardEvent) => void): void {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (key !== "Escape" && isTyping(event.target)) return;
      if (key !== "Escape") event.preventDefault();
      latest.current(event);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [key]);
}

const narrow = matchMedia("(max-width: 899px)");

/** Whether the page shows one part at a time: on a phone, or in a narrow window. */
export const isNarrow = signal(narrow.matches);
narrow.addEventListener("change", () => {
  isNarrow.value = narrow.matches;
});
