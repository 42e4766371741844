import { signal } from "@preact/signals";
import { opened } from "../live/store.ts";
import { isNarrow } from "../ui/media.ts";
import { filtered } from "./filter.ts";
import { Row } from "./row.tsx";
import { VirtualList } from "./virtual-list.tsx";

/** The heights of a row, in pixels, as in the style sheet. */
const rowHeight = { wide: 34, narrow: 56 };

/** How far a key moves in the list. */
const steps: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/** The request that the keyboard is at. */
const active = signal<number>();

function open(id: number): void {
  active.value = id;
  opened.value = id;
}

/** The keys of the list. Opened details follow the keyboard. */
function onKey(event: KeyboardEvent): void {
  const items = filtered.value;
  const step = steps[event.key];
  if (event.key === "Enter" && active.value !== undefined) open(active.value);
  if (step === undefined || items.length === 0) return;
  event.preventDefault();
  const from = items.findIndex(({ id }) => id === active.value);
  const to = Math.max(0, Math.min(items.length - 1, from === -1 ? 0 : from + step));
  active.value = items[to]?.id;
  if (opened.value !== undefined && !isNarrow.value) opened.value = active.value;
}

/** The requests that pass the filter. */
export function RequestList() {
  const items = filtered.value;
  return (
    <VirtualList
      items={items}
      rowHeight={isNarrow.value ? rowHeight.narrow : rowHeight.wide}
      label="Requests, newest first"
      active={active.value}
      onKey={onKey}
      onFocus={() => {
        active.value ??= items[0]?.id;
      }}
      row={(summary, position) => (
        <Row
          key={summary.id}
          summary={summary}
          position={position}
          total={items.length}
          active={summary.id === active.value}
          open={summary.id === opened.value}
          onOpen={open}
        />
      )}
    />
  );
}
