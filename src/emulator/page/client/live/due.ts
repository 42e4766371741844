import { computed, effect } from "@preact/signals";
import { now } from "./clock.ts";
import { connection, state } from "./store.ts";
import { refresh } from "./stream.ts";

/** The next time at which the state changes by itself: a render finishes, a callback is sent again. */
const nextChange = computed(() => {
  const renders = state.value?.renders.items.filter(({ status }) => status === "pending") ?? [];
  const callbacks = state.value?.callbacks.items.flatMap(({ due }) => due ?? []) ?? [];
  return Math.min(...renders.map(({ finished }) => finished), ...callbacks);
});

/** Milliseconds between two readings without an event. Every change has an event: this is for what the page cannot foresee. */
const interval = 5000;

const ignore = () => {};

/** Reads the state when something is due, and now and then. */
export function keepCurrent(): void {
  effect(() => {
    if (now.value >= nextChange.value) refresh().catch(ignore);
  });
  setInterval(() => {
    if (!document.hidden && connection.value === "live") refresh().catch(ignore);
  }, interval);
}
