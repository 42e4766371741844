import { computed, signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RequestSummary } from "../../recorder/request-json.ts";
import type { MarkView } from "../view.ts";
import { count, span, timeToMs } from "./format.ts";
import { isNarrow } from "./hooks.ts";
import { hrefOf, opened, openRequest } from "./location.ts";
import { Pill } from "./parts.tsx";
import { isError, isSlow, reasonOf, statusText, toneOf } from "./request-outcome.ts";
import { type ListRow, rowsOf, spanOf, storyOf } from "./request-rows.ts";
import { marks, requests } from "./store.ts";

/** The text of the filter. Each word must occur. */
export const text = signal("");

export const kinds = ["all", "errors", "slow", "faults"] as const;
export type Kind = (typeof kinds)[number];
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

const allRows = computed(() => rowsOf(requests.value, marks.value));

/** What the list shows. A filter finds calls, by any of their requests. */
export const rows = computed(() => {
  if (kind.value === "all" && text.value.trim() === "") return allRows.value;
  const found = new Set(filtered.value);
  return allRows.value.filter((row) => "requests" in row && row.requests.some((summary) => found.has(summary)));
});

interface VirtualListProps<Item> {
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
function VirtualList<Item extends { readonly id: number }>(props: VirtualListProps<Item>) {
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

interface RowProps {
  /** The requests of one call, oldest first. */
  readonly requests: readonly [RequestSummary, ...RequestSummary[]];
  readonly position: number;
  readonly total: number;
  readonly active: boolean;
  readonly open: boolean;
  readonly onOpen: (id: number) => void;
}

/** A press of a row moves the focus to the list: the row goes when it is scrolled out of view. */
const focusList = (row: HTMLElement): void => row.closest<HTMLElement>(".rows")?.focus({ preventScroll: true });

/** The request of a row that says most: the latest creation of an order, or the latest request. */
const mainOf = (all: readonly [RequestSummary, ...RequestSummary[]]): RequestSummary =>
  all.findLast(({ call }) => call === "orders.create") ?? all.at(-1) ?? all[0];

/** A call: what was called, how its requests ended, why, and how long it took. */
function CallRow({ requests: all, position, total, active, open, onOpen }: RowProps) {
  const main = mainOf(all);
  const latest = all.at(-1) ?? main;
  const reason = reasonOf(all.find(({ fault }) => fault !== null) ?? latest);
  const [{ id }] = all;
  const { method, path, call } = main;
  const duration = spanOf(all);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox handles the keys of its options.
    <div
      id={`request-${id}`}
      class={`row ${active ? "active" : ""} ${open ? "open" : ""}`}
      role="option"
      tabIndex={-1}
      aria-selected={open}
      aria-posinset={position + 1}
      aria-setsize={total}
      onClick={({ currentTarget }) => {
        focusList(currentTarget);
        onOpen(main.id);
      }}
    >
      <time class="row-time" dateTime={new Date(latest.time).toISOString()}>
        {timeToMs(latest.time)}
      </time>
      <span class={`status ${toneOf(latest)}`}>{statusText(latest)}</span>
      <span class="row-call">
        {call ?? "no endpoint"}{" "}
        {all.length === 1 ? null : (
          <span class="amount" title={`${all.length} requests: ${storyOf(all)}`}>
            ×{count(all.length)}
          </span>
        )}
      </span>
      <span class="row-target">
        <span class="row-path">
          {all.length === 1 ? (
            <>
              <span class="method">{method}</span> {path}
            </>
          ) : (
            storyOf(all)
          )}
        </span>
        {reason === null ? null : <Pill tone={reason.tone}>{reason.text}</Pill>}
      </span>
      <span class={`row-duration ${all.some(isSlow) ? "slow" : ""}`}>
        {duration === undefined ? "" : span(duration)}
      </span>
    </div>
  );
}

interface MarkRowProps extends Omit<RowProps, "requests" | "open" | "onOpen"> {
  readonly mark: MarkView;
}

/** Something that happened beside the requests. */
function MarkRow({ mark, position, total, active }: MarkRowProps) {
  const { id, name, text, time, references, failed } = mark;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox handles the keys of its options.
    <div
      id={`request-${-id}`}
      class={`row mark ${active ? "active" : ""}`}
      onClick={({ currentTarget }) => {
        focusList(currentTarget);
        openMark(mark);
      }}
      role="option"
      tabIndex={-1}
      aria-selected={false}
      aria-posinset={position + 1}
      aria-setsize={total}
    >
      <time class="row-time" dateTime={new Date(time).toISOString()}>
        {timeToMs(time)}
      </time>
      <span class="row-sign" aria-hidden="true">
        {name === "callback" ? "←" : "•"}
      </span>
      <span class="row-call">{name}</span>
      <span class="row-target">
        <span class={`row-path ${failed ? "failure-text" : ""}`}>{text}</span>
        {references.map((reference) => (
          <span key={reference} class="row-reference">
            {reference.slice(0, reference.indexOf("_") + 7)}…
          </span>
        ))}
      </span>
      <span />
    </div>
  );
}

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

/** The row that the keyboard is at. */
const active = signal<number>();

const rowWith = (id: number): ListRow | undefined =>
  rows.value.find((row) => "requests" in row && row.requests.some((summary) => summary.id === id));

function open(id: number, replace = false): void {
  active.value = rowWith(id)?.id;
  openRequest(id, replace);
}

/** Opens the card of the record that a mark is about, the latest one first: the shipment, then the order. */
function openMark({ id, references }: MarkView): void {
  active.value = -id;
  const href = references.map(hrefOf).findLast((one) => one !== undefined);
  if (href !== undefined) location.hash = href;
}

/** Opens the row that the keyboard is at. A mark has no details: it leads to a card, but not on the way with the arrow keys. */
function openActive(replace = false): void {
  const row = rows.value.find(({ id }) => id === active.value);
  if (row === undefined) return;
  if ("requests" in row) open(mainOf(row.requests).id, replace);
  else if (!replace) openMark(row.mark);
}

/** The keys of the list. Opened details follow the keyboard. */
function onKey(event: KeyboardEvent): void {
  const items = rows.value;
  const step = steps[event.key];
  if (event.key === "Enter" || event.key === " ") openActive();
  if (event.key === " ") event.preventDefault();
  if (step === undefined || items.length === 0) return;
  event.preventDefault();
  const from = items.findIndex(({ id }) => id === active.value);
  const to = Math.max(0, Math.min(items.length - 1, from === -1 ? 0 : from + step));
  active.value = items[to]?.id;
  if (opened.value !== undefined && !isNarrow.value) openActive(true);
}

/** The calls that pass the filter, and what happened beside them. */
export function RequestList() {
  const items = rows.value;
  const openRow = opened.value === undefined ? undefined : rowWith(opened.value)?.id;
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
      row={(row, position) => {
        const place = { position, total: items.length, active: row.id === active.value };
        return "mark" in row ? (
          <MarkRow key={row.id} mark={row.mark} {...place} />
        ) : (
          <CallRow key={row.id} requests={row.requests} {...place} open={row.id === openRow} onOpen={open} />
        );
      }}
    />
  );
}
