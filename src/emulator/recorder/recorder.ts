import type { Policy } from "../../http/endpoint.ts";
import type { Redact } from "../../http/redact.ts";
import { createPathReader } from "../base/endpoint-names.ts";
import { isBrokenConnection, recordBody, type Service, WholeResponse } from "../base/messages.ts";
import type { WorldClock } from "../clock/emulator-clock.ts";
import type { Fault } from "../faults/fault.ts";
import type { LoggedRequest, RequestOutcome } from "./logged-request.ts";
import { createRedactKeys, RecordedRequest } from "./recording.ts";
import type { WritableLog } from "./request-log.ts";

/** What happens to the body of a response: its pieces, then one of `close`, `cancel` and `error`. */
interface BodyListener {
  piece(piece: Uint8Array): void;
  close(): void;
  /** The reader does not want the rest. */
  cancel(): void;
  error(error: unknown): void;
}

/** Returns the same response with a body that reports each piece when it is read. It reads nothing ahead. */
function watched(response: Response, listener: BodyListener): Response {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let isCanceled = false;

  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    try {
      const { done, value } = await reader.read();
      // A cancel ends the pending read.
      if (isCanceled) return;
      if (!done) {
        listener.piece(value);
        return controller.enqueue(value);
      }
      listener.close();
      controller.close();
    } catch (error) {
      if (isCanceled) return;
      listener.error(error);
      controller.error(error);
    }
  };
  const cancel = (reason: unknown) => {
    isCanceled = true;
    listener.cancel();
    return reader.cancel(reason);
  };
  return new Response(new ReadableStream({ pull, cancel }, { highWaterMark: 0 }), response);
}

/** What the recorder needs of the emulator. */
interface RecorderOptions {
  readonly baseUrl: string;
  /** Every key that the emulator has or had. */
  readonly keys: ReadonlySet<string>;
  /** Requests arrive by its time, and take theirs by its `wire`. */
  readonly clock: Pick<WorldClock, "now" | "wire">;
  readonly log: WritableLog;
}

/** Is called with an entry when its request starts and when it ends. It must not throw. */
type RequestListener = (entry: LoggedRequest) => void;

/** What the emulator knows about a request when it arrives. */
interface ArrivedRequest {
  readonly request: Request;
  readonly url: URL;
  readonly call: string | undefined;
  readonly fault: Fault["fault"] | undefined;
  /** The whole tokens in each bucket of the organization now. Undefined without a valid key. */
  readonly tokens: () => Readonly<Record<Policy, number>> | undefined;
}

const outcomeOf = (error: unknown): RequestOutcome => (isBrokenConnection(error) ? "dropped" : "aborted");

/** Records the requests to the emulator and their responses in a log. */
export class Recorder {
  readonly #clock: RecorderOptions["clock"];
  readonly #log: WritableLog;
  readonly #relative: (pathname: string) => string | undefined;
  readonly #redactKeys: (headers: Headers) => Redact;
  readonly #listeners = new Set<RequestListener>();
  #recorded = 0;

  constructor({ baseUrl, keys, clock, log }: RecorderOptions) {
    this.#clock = clock;
    this.#log = log;
    this.#relative = createPathReader(baseUrl);
    this.#redactKeys = createRedactKeys(keys);
  }

  /** The id of the latest request; 0 before the first. */
  get latest(): number {
    return this.#recorded;
  }

  /**
   * Records a request while `respond` handles it, with the service that it calls. Returns a response that has to be used instead of that
   * of `respond`.
   */
  async record(
    known: ArrivedRequest,
    service: Service,
    respond: (watched: Service) => Promise<Response>,
  ): Promise<Response> {
    const entry = this.#start(known);
    const watchedService: Service = async (request) => {
      const began = this.#clock.wire.now();
      const response = await service(request);
      entry.served(began, this.#clock.wire.now(), response.status);
      // After a gateway has given up, the service still works.
      if (entry.outcome !== "open") for (const listener of this.#listeners) listener(entry);
      return response;
    };
    try {
      return this.#respondWith(entry, await respond(watchedService));
    } catch (error) {
      this.#end(entry, outcomeOf(error));
      throw error;
    }
  }

  /** Adds a listener. Returns a function that removes it. */
  subscribe(listener: RequestListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #start({ request, url: { pathname, search }, ...known }: ArrivedRequest): RecordedRequest {
    this.#recorded += 1;
    const entry = new RecordedRequest(this.#recorded, {
      ...known,
      request,
      path: (this.#relative(pathname) ?? pathname) + search,
      time: this.#clock.now(),
      start: this.#clock.wire.now(),
      redact: this.#redactKeys(request.headers),
    });
    recordBody(request, (piece) => {
      entry.requestBody.add(piece);
      this.#log.update(entry);
    });
    this.#log.add(entry);
    for (const listener of this.#listeners) listener(entry);
    return entry;
  }

  #end(entry: RecordedRequest, outcome: RequestOutcome): void {
    entry.end(outcome, this.#clock.wire.now());
    this.#log.update(entry);
    for (const listener of this.#listeners) listener(entry);
  }

  #respondWith(entry: RecordedRequest, response: Response): Response {
    const body = entry.respond(response, this.#clock.wire.now());
    const whole = response instanceof WholeResponse ? response.whole : undefined;
    if (typeof whole === "string") body.setText(whole);
    else if (whole !== undefined) body.add(whole);
    if (whole !== undefined || response.body === null) {
      this.#end(entry, "responded");
      return response;
    }
    return watched(response, {
      piece: (piece) => {
        body.add(piece);
        this.#log.update(entry);
      },
      close: () => this.#end(entry, "responded"),
      cancel: () => this.#end(entry, "aborted"),
      error: (error) => this.#end(entry, outcomeOf(error)),
    });
  }
}
