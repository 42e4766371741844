import { computed, effect } from "@preact/signals";
import type { RequestSummary } from "../../recorder/request-json.ts";
import type { PageState } from "../view.ts";
import {
  capacity,
  connection,
  marks,
  mergeMarks,
  mergeRequests,
  now,
  organization,
  readClock,
  replaceRequests,
  skipped,
  state,
} from "./store.ts";

/** The path of the world that the page belongs to: empty, or `/worlds/<name>` for an isolated world. */
const world = /^\/worlds\/[^/]+/.exec(location.pathname)?.[0] ?? "";

/** The name of the page's world; empty for the main one. */
export const worldName = world.slice("/worlds/".length);

/** A path of the emulator in the page's world. */
export const inWorld = (path: string): string => world + path;

/** The controls of the emulator over HTTP. */

/** A control refused its input. The message is for the reader of the page. */
class Refused extends Error {}

const messageOf = (body: unknown, status: number): string =>
  typeof body === "object" && body !== null && "message" in body
    ? String(body.message)
    : `The emulator responded with ${status}`;

/** Reads JSON of the emulator. Throws an error with the emulator's own message. */
export async function read<Result>(path: string, init?: RequestInit): Promise<Result> {
  const response = await fetch(inWorld(path), { headers: { Accept: "application/json" }, ...init });
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw new Refused(messageOf(body, response.status));
  return body as Result;
}

/** Runs a control and returns its result. */
export async function run<Result>(control: string, input: object = {}): Promise<Result> {
  const { result } = await read<{ readonly result: Result }>(`/_emulator/${control}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(input),
  });
  return result;
}

/** Milliseconds before a closed stream is opened again. The browser itself repeats only after a lost connection. */
const reopenAfter = 2000;

let reading: Promise<void> | undefined;
let stale = false;

/** Reads the state. Calls during a reading cause one more reading after it. */
export function refresh(): Promise<void> {
  stale = true;
  reading ??= (async () => {
    try {
      while (stale) {
        stale = false;
        const name = organization.value;
        const query = name === undefined ? "" : `?organization=${encodeURIComponent(name)}`;
        const next = await read<PageState>(`/_emulator/state${query}`);
        readClock(next.clock);
        mergeMarks(next.marks);
        state.value = next;
      }
    } finally {
      reading = undefined;
    }
  })();
  return reading;
}

/** Reads the list of requests from the emulator. */
export async function reloadRequests(): Promise<void> {
  const { requests } = await read<{ readonly requests: readonly RequestSummary[] }>(
    `/_emulator/requests?limit=${capacity}`,
  );
  replaceRequests(requests);
}

const ignore = () => {};

/** Whether the emulator responds, and has no such world any more. */
async function isRemoved(): Promise<boolean> {
  const response = await fetch(inWorld("/_emulator/state")).catch(() => undefined);
  return worldName !== "" && response?.status === 404;
}

/** Follows the emulator's event stream. After a lost connection it reads everything again, because events were missed. */
export function follow(): void {
  const events = new EventSource(inWorld("/_emulator/events"));
  events.onopen = () => {
    connection.value = "live";
    marks.value = [];
    refresh().catch(ignore);
    reloadRequests().catch(ignore);
  };
  events.addEventListener("requests", ({ data }) => {
    const batch: { readonly changed: readonly RequestSummary[]; readonly skipped: number } = JSON.parse(data);
    mergeRequests(batch.changed);
    skipped.value += batch.skipped;
  });
  events.addEventListener("cleared", () => {
    replaceRequests([]);
    marks.value = [];
  });
  events.addEventListener("change", () => void refresh().catch(ignore));
  events.onerror = () => {
    connection.value = "lost";
    isRemoved().then((removed) => {
      if (removed) {
        events.close();
        connection.value = "removed";
      } else if (events.readyState === EventSource.CLOSED) setTimeout(follow, reopenAfter);
    }, ignore);
  };
}

/** The next time at which the state changes by itself: a render finishes, a callback is sent again. */
const nextChange = computed(() => {
  const renders = state.value?.renders.items.filter(({ status }) => status === "pending") ?? [];
  const callbacks = state.value?.callbacks.items.flatMap(({ due }) => due ?? []) ?? [];
  return Math.min(...renders.map(({ finished }) => finished), ...callbacks);
});

/** Milliseconds between two readings without an event. Every change has an event: this is for what the page cannot foresee. */
const interval = 5000;

/** Reads the state when something is due, and now and then. */
export function keepCurrent(): void {
  effect(() => {
    if (now.value >= nextChange.value) refresh().catch(ignore);
  });
  setInterval(() => {
    if (!document.hidden && connection.value === "live") refresh().catch(ignore);
  }, interval);
}
