import { NotFoundError, NotReadyError } from "../../errors/api.ts";
import { attachCall, type PodPartnerError, type TimelineEntry } from "../../errors/base.ts";
import { RenderFailedError, WaitTimeoutError } from "../../errors/renders.ts";
import { nameOf } from "../../http/endpoint.ts";
import { isRecord } from "../../util/foreign.ts";
import { latestTime } from "../../util/timestamp.ts";
import type { BatchRow, BatchTools } from "./batch-row.ts";
import type { CreatedRenders, RenderEntry } from "./ensure-render.ts";
import { isRefusedFile, shortestRetry, statusOf, unsaidRetryAfter } from "./render-waiting.ts";
import { getRender, getRenderMedia, type Render } from "./renders.endpoints.ts";

/** Milliseconds after its creation in which a render may not be readable yet. */
const unreadable = 30_000;
/** The number of the latest renders of which the slowest counts. */
const latestRenders = 20;
/** Timestamps can be cut to seconds: maximum milliseconds that a render may have taken longer than they say. */
const cutOff = 1_000;

/** A render that is waited for. */
interface Pending {
  /** The name of its pair. */
  readonly pair: string;
  readonly entry: RenderEntry;
  readonly row: BatchRow;
  readonly began: number;
  /** The latest time of a look: so early that its response arrives before the deadline. */
  readonly lastLook: number;
}

/** Throws an error of the SDK as the request for the status would. */
function fail(error: PodPartnerError, { row }: Pending, timeline: readonly TimelineEntry[] = []): never {
  attachCall(error, { endpoint: nameOf(getRender), callId: row.callId, timeline });
  throw error;
}

/** Returns a render that has ended, or throws that it failed. */
function ended(render: Render, pending: Pending, timeline?: readonly TimelineEntry[]): Render {
  if (statusOf(render) !== "failed") return render;
  return fail(new RenderFailedError({ reference: pending.entry.reference }), pending, timeline);
}

/** How long a render took by the service's own timestamps, which do not include the time until it was looked at. */
function durationOf(render: Render): number | undefined {
  const { created, completed } = isRecord(render) ? render : {};
  const took = latestTime(`${completed}`) - latestTime(`${created}`);
  return Number.isFinite(took) ? Math.max(0, took) : undefined;
}

/**
 * The renders that a batch waits for. The status of each is read when it is as old as the slowest of the latest renders was, and then at most
 * once in an interval. Until one was completed, one at a time is probed: its file's response has a `Retry-After`.
 */
export class PendingRenders {
  readonly #tools: BatchTools;
  readonly #created: CreatedRenders;
  /** Milliseconds that the latest renders took, or take at least. Empty until one was completed. */
  readonly #times: number[] = [];
  /** The longest time that a `Retry-After` gave to a render, until one was completed. */
  #announced = 0;
  /** The wait for the render that is probed; it never rejects. */
  #probe: Promise<void> | undefined;

  constructor(tools: BatchTools, created: CreatedRenders) {
    this.#tools = tools;
    this.#created = created;
  }

  /**
   * Resolves to the completed render of a pair.
   *
   * @throws `RenderFailedError`, or `WaitTimeoutError` if it is still pending at the deadline.
   */
  async completed(pair: string, entry: RenderEntry, row: BatchRow): Promise<Render> {
    const { clock } = this.#tools;
    const began = clock.now();
    const time = row.waitTime();
    const pending = { pair, entry, row, began, lastLook: began + time - Math.min(1_000, time / 4) };
    if (entry.render !== undefined) return ended(entry.render, pending);
    while (this.#times.length === 0 && clock.now() < this.#firstLook(pending)) {
      if (this.#probe === undefined) {
        const render = this.#probed(pending).then((next) => this.#wait(pending, next));
        const over = () => {
          this.#probe = undefined;
        };
        this.#probe = render.then(over, over);
        return render;
      }
      await row.sleep(this.#firstLook(pending) - clock.now(), this.#probe);
    }
    return this.#wait(pending);
  }

  /** When the status of a render is read first. */
  #firstLook({ entry, lastLook }: Pending): number {
    const slowest = Math.max(0, ...this.#times);
    const isKnown = this.#times.length > 0;
    const age = isKnown ? slowest + Math.min(cutOff, slowest) : Math.max(this.#tools.interval, this.#announced);
    return Math.min(entry.created + age, lastLook);
  }

  /**
   * Probes a render: requests its file until it is ready, or until only the status can show what the response means. Resolves to the time when
   * the status is to be read. The picture is requested again when it can be read: an open one would have to wait for the status, and keeps a
   * connection.
   */
  async #probed({ entry, row, lastLook }: Pending): Promise<number> {
    const { send, clock, interval } = this.#tools;
    const path = { renderReference: entry.reference };
    let next = clock.now();
    while (next < Math.min(entry.created + interval, lastLook)) {
      try {
        const request = () => send(getRenderMedia, { path }, row.reading());
        const { data: media } = await this.#look(row, () => next, request);
        await media.cancel();
        return clock.now();
      } catch (error) {
        if (!isRefusedFile(error)) throw error;
        if (!(error instanceof NotReadyError)) return clock.now();
        const age = clock.now() - entry.created;
        this.#announced = Math.max(this.#announced, age + (error.retryAfter ?? 0));
        // A `Retry-After` that is too short is followed by longer waits.
        next = clock.now() + Math.max(error.retryAfter ?? unsaidRetryAfter, shortestRetry, Math.min(age, interval));
      }
    }
    return next;
  }

  /** Reads the status of a render until it is completed, or until its deadline. Without `first`, other renders show when to begin. */
  async #wait(pending: Pending, first?: number): Promise<Render> {
    const { clock, interval, onPending } = this.#tools;
    const { row, began, lastLook } = pending;
    let next = first;
    for (let pause = interval; ; ) {
      const due = () => Math.min(next ?? this.#firstLook(pending), lastLook);
      const render = await this.#look(row, due, () => this.#read(pending));
      if (render === undefined) {
        next = clock.now() + unsaidRetryAfter;
        continue;
      }
      if (statusOf(render) === "completed") return render;
      next = clock.now() + pause;
      pause *= 2;
      await onPending?.(render, clock.now() - began);
    }
  }

  /** Looks at a render when it is due, in one of the places of the batch. Meanwhile other looks may show that it is too early. */
  async #look<T>(row: BatchRow, due: () => number, look: () => Promise<T>): Promise<T> {
    const { clock, slots } = this.#tools;
    for (;;) {
      await row.sleep(due() - clock.now());
      const giveBack = await slots.take(row.signal);
      try {
        if (clock.now() >= due()) return await look();
      } finally {
        giveBack();
      }
    }
  }

  /** Reads a render, and remembers it if it has ended. Resolves to undefined while a new render is not readable. */
  async #read(pending: Pending): Promise<Render | undefined> {
    const { send, clock } = this.#tools;
    const { pair, entry, row, began, lastLook } = pending;
    const isLast = clock.now() >= lastLook;
    // Another process may have seen its end.
    const known = await this.#created.get(pair);
    if (known?.render !== undefined && known.reference === entry.reference) return ended(known.render, pending);
    const path = { renderReference: entry.reference };
    const timeout = (cause?: unknown) =>
      new WaitTimeoutError({ reference: entry.reference, waited: clock.now() - began, cause });
    const seen = await send(getRender, { path }, row.reading()).catch((error: unknown) => {
      if (!(error instanceof NotFoundError) || clock.now() >= entry.created + unreadable) throw error;
      return isLast ? fail(timeout(error), pending, error.timeline) : undefined;
    });
    if (seen === undefined) return undefined;
    const { data: render, timeline } = seen;
    const status = statusOf(render);
    if (status === "completed" || status === "failed") {
      await this.#created.set(pair, { ...entry, render });
      if (status === "completed") this.#took(durationOf(render) ?? clock.now() - entry.created);
      return ended(render, pending, timeline);
    }
    if (isLast) fail(timeout(), pending, timeline);
    // It takes longer than the others. How long is not known: likely half of its age more.
    if (this.#times.length > 0) this.#took(1.5 * (clock.now() - entry.created));
    return render;
  }

  #took(ms: number): void {
    this.#times.push(ms);
    if (this.#times.length > latestRenders) this.#times.shift();
  }
}
