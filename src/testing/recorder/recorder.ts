import type { Policy } from "../../http/endpoint/endpoint.ts";
import type { WorldClock } from "../clock/emulator-clock.ts";
import { isBrokenConnection } from "../faults/broken-connection.ts";
import type { Fault } from "../faults/fault.ts";
import { createPathReader } from "../http/base-path.ts";
import { WholeResponse } from "../http/whole-response.ts";
import type { LoggedRequest, RequestOutcome } from "./logged-request.ts";
import { Recording } from "./recording.ts";
import { createRedactKeys } from "./redact-keys.ts";
import { recordBody } from "./request-body.ts";
import type { WritableLog } from "./request-log.ts";
import { watched } from "./watched.ts";

/** What the recorder needs of the emulator. */
export interface RecorderOptions {
  readonly baseUrl: string;
  readonly secretKey: string;
  /** Requests arrive by its time, and take theirs by its `wire`. */
  readonly clock: Pick<WorldClock, "now" | "wire">;
  readonly log: WritableLog;
}

/** Is called with an entry when its request starts and when it ends. It must not throw. */
export type RequestListener = (entry: LoggedRequest) => void;

/** What the emulator knows about a request when it arrives. */
export interface Known {
  readonly request: Request;
  readonly url: URL;
  readonly call: string | undefined;
  readonly fault: Fault["fault"] | undefined;
  /** The whole tokens in each bucket of the organization now. Undefined without a valid key. */
  readonly tokens: () => Readonly<Record<Policy, number>> | undefined;
}

/** Records the requests to the emulator and their responses. */
export interface Recorder {
  /** Records a request while `respond` handles it. Returns a response that has to be used instead of that of `respond`. */
  record(known: Known, respond: () => Promise<Response>): Promise<Response>;
  /** Adds a listener. Returns a function that removes it. */
  subscribe(listener: RequestListener): () => void;
}

const outcomeOf = (error: unknown): RequestOutcome => (isBrokenConnection(error) ? "dropped" : "aborted");

/** Makes a recorder that writes to a log. */
export function createRecorder({ baseUrl, secretKey, clock, log }: RecorderOptions): Recorder {
  const relative = createPathReader(baseUrl);
  const redactKeys = createRedactKeys(secretKey);
  const listeners = new Set<RequestListener>();
  let recorded = 0;

  const start = ({ request, url: { pathname, search }, call, fault, tokens }: Known): Recording => {
    recorded += 1;
    const entry = new Recording(recorded, {
      request,
      path: (relative(pathname) ?? pathname) + search,
      time: clock.now(),
      start: clock.wire.now(),
      call,
      fault,
      tokens,
      redact: redactKeys(request.headers),
    });
    recordBody(request, (piece) => {
      entry.requestBody.add(piece);
      log.update(entry);
    });
    log.add(entry);
    for (const listener of listeners) listener(entry);
    return entry;
  };
  const end = (entry: Recording, outcome: RequestOutcome) => {
    entry.end(outcome, clock.wire.now());
    log.update(entry);
    for (const listener of listeners) listener(entry);
  };
  const respondWith = (entry: Recording, response: Response): Response => {
    const body = entry.respond(response);
    const whole = response instanceof WholeResponse ? response.whole : undefined;
    if (typeof whole === "string") body.setText(whole);
    else if (whole !== undefined) body.add(whole);
    if (whole !== undefined || response.body === null) {
      end(entry, "responded");
      return response;
    }
    return watched(response, {
      piece: (piece) => {
        body.add(piece);
        log.update(entry);
      },
      close: () => end(entry, "responded"),
      cancel: () => end(entry, "aborted"),
      error: (error) => end(entry, outcomeOf(error)),
    });
  };

  return {
    record: async (known, respond) => {
      const entry = start(known);
      try {
        return respondWith(entry, await respond());
      } catch (error) {
        end(entry, outcomeOf(error));
        throw error;
      }
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
