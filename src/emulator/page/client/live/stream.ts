import type { RequestSummary } from "../../../recorder/request-json.ts";
import type { PageState } from "../../overview/view.ts";
import { read } from "./api.ts";
import { readClock } from "./clock.ts";
import { inWorld } from "./path.ts";
import { mergeRequests, replaceRequests } from "./requests.ts";
import { capacity, connection, organization, skipped, state } from "./store.ts";

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

/** Follows the emulator's event stream. After a lost connection it reads everything again, because events were missed. */
export function follow(): void {
  const events = new EventSource(inWorld("/_emulator/events"));
  events.onopen = () => {
    connection.value = "live";
    refresh().catch(ignore);
    reloadRequests().catch(ignore);
  };
  events.addEventListener("requests", ({ data }) => {
    const batch: { readonly changed: readonly RequestSummary[]; readonly skipped: number } = JSON.parse(data);
    mergeRequests(batch.changed);
    skipped.value += batch.skipped;
  });
  events.addEventListener("cleared", () => replaceRequests([]));
  events.addEventListener("change", () => void refresh().catch(ignore));
  events.onerror = () => {
    connection.value = "lost";
    if (events.readyState !== EventSource.CLOSED) return;
    setTimeout(follow, reopenAfter);
  };
}
