import { keepProcess, type PartnerClock } from "../../util/clock.ts";
import { bodyTerminated } from "../base/messages.ts";
import type { RequestSummary } from "../recorder/request-json.ts";

/** Milliseconds between two batches of events. Everything that happens in between is sent once. */
const pause = 100;

/** The most requests in a batch. A client that sends thousands a second must not make the page slow. */
const largestBatch = 200;

/** The most bytes that wait for a page that does not read. Its connection is then broken, which frees them; a page connects again. */
const largestBacklog = 4 * 2 ** 20;

/** The most pages that follow one emulator. */
const maxStreams = 64;

/** Sends what happens in the emulator to the pages that follow it, as server-sent events. Without a page it does nothing. */
export interface EventHub<FollowedRequest> {
  /** A request started or ended. */
  requested(entry: FollowedRequest): void;
  /** The log of requests was cleared. */
  cleared(): void;
  /** The state changed. */
  changed(): void;
  /** The response to `GET /_emulator/events`. */
  connect(): Response;
  /** Ends the streams of all pages. */
  close(): void;
}

const full = () =>
  Response.json({ code: "too_many_pages", message: `${maxStreams} pages follow this emulator` }, { status: 503 });

type Stream = ReadableStreamDefaultController<Uint8Array>;

const encoder = new TextEncoder();
const eventOf = (name: string, data: unknown): Uint8Array =>
  encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);

/** What the hub reads of a request before it is sent. */
type EventRequest = Pick<RequestSummary, "id" | "outcome">;

/** What has happened since the last batch. */
class EventBatch<Of extends EventRequest> {
  readonly #changed = new Map<number, Of>();
  #skipped = 0;
  isCleared = false;

  add(entry: Of): void {
    if (this.#changed.size < largestBatch || this.#changed.has(entry.id)) this.#changed.set(entry.id, entry);
    else if (entry.outcome !== "open") this.#skipped += 1;
  }

  clear(): void {
    this.#changed.clear();
    this.#skipped = 0;
    this.isCleared = true;
  }

  /** The events to send, oldest first. */
  *events(summaryOf: (entry: Of) => RequestSummary): Generator<Uint8Array> {
    if (this.isCleared) yield eventOf("cleared", {});
    const changed = [...this.#changed.values()].map(summaryOf);
    if (changed.length > 0) yield eventOf("requests", { changed, skipped: this.#skipped });
    yield eventOf("change", {});
  }
}

/** Makes a response whose body is one of the streams until its reader cancels it. */
function connectTo(streams: Set<Stream>): Response {
  let opened: Stream | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start: (stream) => {
        opened = stream;
        streams.add(stream);
        stream.enqueue(encoder.encode("retry: 1000\n\n"));
      },
      cancel: () => {
        if (opened !== undefined) streams.delete(opened);
      },
    },
    { highWaterMark: largestBacklog, size: (chunk) => chunk?.byteLength ?? 0 },
  );
  return new Response(body, { headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" } });
}

/** Makes a hub that sends its batches by a clock. It summarizes a request when it sends it. */
export function createEventHub<Of extends EventRequest>(
  clock: PartnerClock,
  summaryOf: (entry: Of) => RequestSummary,
): EventHub<Of> {
  const streams = new Set<Stream>();
  let batch: EventBatch<Of> | undefined;

  const flush = () => {
    const events = [...(batch?.events(summaryOf) ?? [])];
    batch = undefined;
    for (const stream of streams) {
      for (const event of events) stream.enqueue(event);
      if ((stream.desiredSize ?? 0) > 0) continue;
      streams.delete(stream);
      stream.error(bodyTerminated());
    }
  };
  /** The batch that is sent next; undefined while no page follows. */
  const next = (): EventBatch<Of> | undefined => {
    if (streams.size === 0) return undefined;
    if (batch === undefined) {
      batch = new EventBatch<Of>();
      keepProcess(clock.after(pause, flush), false);
    }
    return batch;
  };

  return {
    requested: (entry) => next()?.add(entry),
    cleared: () => next()?.clear(),
    changed: () => void next(),
    connect: () => (streams.size < maxStreams ? connectTo(streams) : full()),
    close: () => {
      // A closed stream keeps what its reader has not read until the reader disconnects.
      for (const stream of streams) {
        if (stream.desiredSize === largestBacklog) stream.close();
        else stream.error(bodyTerminated());
      }
      streams.clear();
    },
  };
}
