import { type Signal, signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

export const isTyping = (target: EventTarget | null): boolean =>
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

/** Moves the focus to the first field of a form when it opens. */
export function useFirstField(): RefObject<HTMLDivElement | null> {
  const form = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("input, select, textarea, button")?.focus(), []);
  return form;
}

/**
 * Returns the focus to a place that is still there, after a press has removed or disabled its button: the nearest of the parts that the
 * button was in.
 */
export function keepFocus(button: HTMLElement): () => void {
  const homes: HTMLElement[] = [];
  for (let part = button.closest<HTMLElement>("[tabindex]"); part !== null; ) {
    homes.push(part);
    part = part.parentElement?.closest<HTMLElement>("[tabindex]") ?? null;
  }
  return () =>
    requestAnimationFrame(() => {
      if (document.activeElement !== document.body) return;
      homes.find((part) => part.isConnected && !part.closest("[inert]"))?.focus({ preventScroll: true });
    });
}

/** Whether the open tab is scrolled down, so that cards above what the reader sees must not push it. */
export const isScrolled = signal(false);

/**
 * Keeps a list still while the reader points at it or has scrolled: new items wait, and `fresh` counts them. Returns the items to draw, and
 * what the list's element needs.
 */
export function useSteady<Item>(items: readonly Item[], keyOf: (item: Item) => string | number) {
  const isPointed: Signal<boolean> = useSignal(false);
  const released = useSignal(0);
  const known = useRef<ReadonlySet<string | number>>(new Set());
  const seen = useRef(released.value);
  const drawn = items.filter((item) => known.current.has(keyOf(item)));
  const isHeld = drawn.length > 0 && (isPointed.value || isScrolled.value) && seen.current === released.value;
  seen.current = released.value;
  if (!isHeld) known.current = new Set(items.map(keyOf));
  const shown = isHeld ? drawn : items;
  return {
    shown,
    fresh: items.length - shown.length,
    show: () => {
      released.value += 1;
    },
    listProps: {
      onPointerEnter: ({ pointerType }: PointerEvent) => {
        isPointed.value = pointerType === "mouse";
      },
      onPointerLeave: () => {
        isPointed.value = false;
      },
    },
  };
}
