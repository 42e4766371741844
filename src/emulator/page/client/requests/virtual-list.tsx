import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface Props<Item> {
  readonly items: readonly Item[];
  readonly rowHeight: number;
  readonly label: string;
  /** The id of the row that the keyboard is at. */
  readonly active: number | undefined;
  readonly row: (item: Item, position: number) => ComponentChildren;
  readonly onKey: (event: KeyboardEvent) => void;
  readonly onFocus: () => void;
}

/** Rows above and below the visible ones. */
const margin = 8;

/** The first and the last row to draw. */
function range(top: number, height: number, rowHeight: number, total: number): readonly [number, number] {
  const first = Math.max(0, Math.floor(top / rowHeight) - margin);
  return [first, Math.min(total, Math.ceil((top + height) / rowHeight) + margin)];
}

/** Keeps what the reader sees in place when rows are added above it. */
function useAnchor(box: { current: HTMLDivElement | null }, ids: readonly number[], rowHeight: number): void {
  const anchor = useRef<{ readonly id: number | undefined; readonly at: number }>({ id: undefined, at: 0 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const { id, at } = anchor.current;
    const moved = id === undefined || element.scrollTop === 0 ? -1 : ids.indexOf(id);
    if (moved !== -1 && moved !== at) element.scrollTop += (moved - at) * rowHeight;
    const first = Math.floor(element.scrollTop / rowHeight);
    anchor.current = { id: ids[first], at: first };
  });
}

/** A listbox that draws only the visible rows. All rows have the same height. */
export function VirtualList<Item extends { readonly id: number }>(props: Props<Item>) {
  const { items, rowHeight, label, active, row, onKey, onFocus } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const measure = () => {
    if (box.current !== null) setView({ top: box.current.scrollTop, height: box.current.clientHeight });
  };
  useLayoutEffect(() => {
    const observer = new ResizeObserver(measure);
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useAnchor(
    box,
    items.map(({ id }) => id),
    rowHeight,
  );
  const position = items.findIndex(({ id }) => id === active);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || position === -1) return;
    const [top, bottom] = [position * rowHeight, (position + 1) * rowHeight];
    if (top < element.scrollTop) element.scrollTop = top;
    else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
  }, [active]);
  const [from, to] = range(view.top, view.height, rowHeight, items.length);
  return (
    <div
      ref={box}
      class="rows"
      role="listbox"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={position === -1 ? undefined : `request-${active}`}
      onScroll={measure}
      onKeyDown={onKey}
      onFocus={onFocus}
    >
      <div class="rows-all" style={{ height: `${items.length * rowHeight}px` }}>
        <div class="rows-drawn" style={{ transform: `translateY(${from * rowHeight}px)` }}>
          {items.slice(from, to).map((item, offset) => row(item, from + offset))}
        </div>
      </div>
    </div>
  );
}
