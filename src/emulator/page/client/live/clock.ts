import { computed, signal } from "@preact/signals";
import type { ClockView } from "../../overview/view.ts";

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
