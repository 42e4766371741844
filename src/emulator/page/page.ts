import { systemClock } from "../../util/clock.ts";
import type { Emulation } from "../emulation/emulation.ts";
import type { Recorder } from "../recorder/recorder.ts";
import { summaryOf } from "../recorder/summary.ts";
import { createEventHub } from "./live/event-hub.ts";
import { respondWithPage } from "./respond.ts";

/** The page of an emulator: `respond` responds to a GET of the page, and returns undefined for another request. */
export function createPage({ emulation, recorder }: { readonly emulation: Emulation; readonly recorder: Recorder }) {
  const events = createEventHub(systemClock, summaryOf);
  recorder.subscribe(events.requested);
  emulation.onChange(() => {
    if (emulation.requests.length === 0) events.cleared();
    events.changed();
  });
  return {
    respond: (request: Request): Promise<Response | undefined> => respondWithPage(emulation, events.connect, request),
    close: events.close,
  };
}
