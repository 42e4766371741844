import { computed, signal } from "@preact/signals";
import type { RequestSummary } from "../../recorder/request-json.ts";
import type { ClockView, ControlView, MarkView, PageState } from "../view.ts";

/** What the page shows. Each part of the page reads the signals that it draws. */

export const state = signal<PageState>();
export const controls = signal<readonly ControlView[]>([]);

/** The name of the organization that the reader chose. Undefined for the first one. */
export const organization = signal<string>();

/** Whether the event stream is connected. `removed`: the world of the page is gone for good. */
export const connection = signal<"connecting" | "live" | "lost" | "removed">("connecting");

/** The most requests that the page keeps. */
export const capacity = 5000;

/** The requests, newest first. */
export const requests = signal<readonly RequestSummary[]>([]);

/** Requests that the event stream left out because too many came at once. */
export const skipped = signal(0);

export const baseUrl = computed(() => state.value?.baseUrl ?? "");
export const calls = computed(() => state.value?.calls ?? []);

/** What happened beside the requests, oldest first. The state has only the newest. */
export const marks = signal<readonly MarkView[]>([]);

/** The most marks that the page keeps. */
const markCapacity = 1000;

/** Adds the marks that are new. After a restart of the emulator they count from 1 again. */
export function mergeMarks(newest: readonly MarkView[]): void {
  const latest = marks.value.at(-1)?.id ?? 0;
  if ((newest.at(-1)?.id ?? 0) < latest) marks.value = newest;
  else {
    const added = newest.filter(({ id }) => id > latest);
    if (added.length > 0) {
      // The latest try of a callback stands for those before it.
      const tried = new Set(added.flatMap(({ name, references }) => (name === "callback" ? references : [])));
      const isOld = ({ name, references: [order = ""] }: MarkView) => name === "callback" && tried.has(order);
      marks.value = [...marks.value.filter((mark) => !isOld(mark)), ...added].slice(-markCapacity);
    }
  }
}

/** Replaces all requests. */
export function replaceRequests(all: readonly RequestSummary[]): void {
  requests.value = all.slice(0, capacity);
  skipped.value = 0;
}

/** Adds requests, or replaces those that have changed since. `changed` is ordered oldest first. */
export function mergeRequests(changed: readonly RequestSummary[]): void {
  const byId = new Map(changed.map((summary) => [summary.id, summary]));
  const kept = requests.value.map((summary) => {
    const update = byId.get(summary.id);
    byId.delete(summary.id);
    return update ?? summary;
  });
  requests.value = [...[...byId.values()].reverse(), ...kept].slice(0, capacity);
}

/** The emulator's clock as it was read, with the browser's time of the reading. */
const reading = signal<{ readonly clock: ClockView; readonly at: number }>();
const tick = signal(0);

export const readClock = (clock: ClockView): void => {
  reading.value = { clock, at: performance.now() };
};

/** Real milliseconds since the last reading. Buckets refill by the time of the connection, which no speed changes. */
export const sinceReading = computed(() => {
  tick.value;
  return reading.value === undefined ? 0 : Math.max(0, performance.now() - reading.value.at);
});

/** The emulator's time now, in milliseconds since 1970. It continues between two readings. */
export const now = computed(() => {
  const since = sinceReading.value;
  if (reading.value === undefined) return Date.now();
  const { clock } = reading.value;
  return clock.frozen ? clock.now : clock.now + since * clock.speed;
});

/** Milliseconds between two updates of the times on the page. */
const beat = 250;
setInterval(() => {
  if (!document.hidden) tick.value += 1;
}, beat);
