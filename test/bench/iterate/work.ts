import { setTimeout } from "node:timers/promises";
import { pageSize } from "./pages.ts";

/** What a caller does with the item at this index of a page. A promise if the caller waits for it. */
export type Work = (index: number) => Promise<void> | undefined;

/** Milliseconds of work that a caller has with each page. */
export const duration = 2;

function block(ms: number): undefined {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** The ways to spread the work of a page. */
export const works = {
  "blocks on the first item": (index) => (index === 0 ? block(duration) : undefined),
  "blocks on the last item": (index) => (index === pageSize - 1 ? block(duration) : undefined),
  "blocks on every item": () => block(duration / pageSize),
  "waits on the first item": (index) => (index === 0 ? setTimeout(duration) : undefined),
  "waits on the last item": (index) => (index === pageSize - 1 ? setTimeout(duration) : undefined),
  "no work": () => undefined,
} satisfies Readonly<Record<string, Work>>;

export type WorkName = keyof typeof works;
export const workNames = Object.keys(works) as WorkName[];
