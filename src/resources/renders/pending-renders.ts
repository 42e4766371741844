import { NotFoundError, NotReadyError } from "../../errors/api.ts";
import { attachCall, type PodPartnerError, type TimelineEntry } from "../../errors/base.ts";
import { RenderFailedError, WaitTimeoutError } from "../../errors/renders.ts";
import { nameOf } from "../../http/endpoint.ts";
import { dateOf } from "../../util/clock.ts";
import { isRecord } from "../../util/foreign.ts";
import { latestTime } from "../../util/timestamp.ts";
import type { BatchRow, BatchTools } from "./batch-row.ts";
import type { CreatedRenders, RenderEntry } from "./ensure-render.ts";
import { isRefusedFile, needsStatus, shortestRetry, unsaidRetryAfter } from "./render-waiting.ts";
import { getRender, getRenderMedia, type Render } from "./renders.endpoints.ts";

/** Milliseconds after its creation in which a render may not be readable yet. */
const unreadable = 30_000;
/** The number of the latest renders of which the slowest counts. */
const latestRenders = 20;
/** Timestamps can be cut to seconds: maximum milliseconds that a render may have taken longer than they say. */
const cutOff = 1_000;

/** How long a render took by the service's own timestamps, which do not include the time until it was looked at. */
function durationOf(render: Render): number | undefined {
  const { created, completed } = isRecord(render) ? render : {};
  const took = latestTime(`${completed}`) - latestTime(`${created}`);
  return Number.isFinite(took) ? Math.max(0, took) : undefined;
}

/** How long the renders of a batch take. */
export class RenderTimes {
  /** The wait for the render that is probed; it never rejects. */
  probe: Promise<void> | undefined;
  /** Milliseconds that the latest renders took, or take at least. Empty until one was completed. */
  readonly #latest: number[] = [];
  /** The longest time that a `Retry-After` gave to a render, and at least an interval. */
  #announced: number;

  constructor(interval: number) {
    this.#announced = interval;
  }

  get isKnown(): boolean {
    return this.#latest.length > 0;
  }

  /** The age at which the status of a render is read first. */
  get firstLook(): number {
    const slowest = Math.max(0, ...this.#latest);
    return this.isKnown ? slowest + Math.min(cutOff, slowest) : this.#announced;
  }

  announce(ms: number): void {
    this.#announced = Math.max(this.#announced, ms);
  }

  add(ms: number): void {
    this.#latest.push(ms);
    if (this.#latest.length > latestRenders) this.#latest.shift();
  }
}

/** What the waits for renders need of a batch. */
interface Waits extends BatchTools {
  readonly created: CreatedRenders;
  readonly times: RenderTimes;
}

/**
 * Waits for the render of a pair. Its status is read when it is as old as the slowest of the latest renders was, and then at most once in
 * an interval. Until a render was completed, one at a time is probed: its file's response has a `Retry-After`.
 *
 * @throws `RenderFailedError`, or `WaitTimeoutError` if it is still pending at the deadline.
 */
export async function completedRender(
  { send, clock, slots, interval, onPending, created, times }: Waits,
  pair: string,
  entry: RenderEntry,
  row: BatchRow,
): Promise<Render> {
  const { reference } = entry;
  const path = { renderReference: reference };
  const began = clock.now();
  /** When it was created, by this clock. */
  const createdAt = began - Math.max(0, dateOf(clock) - entry.created);
  const time = row.waitTime();
  /** The latest time of a look: so early that its response arrives before the deadline. */
  const lastLook = began + time - Math.min(1_000, time / 4);
  const firstLook = () => Math.min(createdAt + times.firstLook, lastLook);

  /** Throws an error of the SDK as the request for the status would. */
  const fail = (error: PodPartnerError, timeline: readonly TimelineEntry[] = []): never => {
    attachCall(error, { endpoint: nameOf(getRender), callId: row.callId, timeline });
    throw error;
  };
  const timeout = (cause?: unknown) => new WaitTimeoutError({ reference, waited: clock.now() - began, cause });
  const ended = (render: Render, timeline?: readonly TimelineEntry[]): Render =>
    render.status === "failed" ? fail(new RenderFailedError({ reference }), timeline) : render;

  /** Looks at the render when it is due, in one of the places of the batch. Meanwhile other looks may show that it is too early. */
  const look = async <T>(due: () => number, request: () => Promise<T>): Promise<T> => {
    for (;;) {
      await row.sleep(due() - clock.now());
      const giveBack = await slots.take(row.signal);
      try {
        if (clock.now() >= due()) return await request();
      } finally {
        giveBack();
      }
    }
  };

  /** Reads the render, and remembers it if it has ended. Resolves to undefined while a new render is not readable. */
  const read = async (): Promise<Render | undefined> => {
    const isLast = clock.now() >= lastLook;
    // Another process may have seen its end.
    const known = await created.get(pair);
    if (known !== "lost" && known?.render !== undefined && known.reference === reference) return ended(known.render);
    const seen = await send(getRender, { path }, row.reading(), needsStatus).catch((error: unknown) => {
      if (!(error instanceof NotFoundError) || clock.now() >= createdAt + unreadable) throw error;
      return isLast ? fail(timeout(error), error.timeline) : undefined;
    });
    if (seen === undefined) return undefined;
    const { data: render, timeline } = seen;
    const { status } = render;
    const age = clock.now() - createdAt;
    if (status === "completed" || status === "failed") {
      await created.set(pair, { ...entry, render });
      if (status === "completed") times.add(durationOf(render) ?? age);
      return ended(render, timeline);
    }
    if (isLast) fail(timeout(), timeline);
    // It takes longer than the others. How long is not known: likely half of its age more.
    if (times.isKnown) times.add(1.5 * age);
    return render;
  };

  /**
   * Requests the file until it is ready, or until only the status can show what the response means. Resolves to the time when the status is
   * to be read. The picture is requested again when it can be read: an open one would have to wait for the status, and keeps a connection.
   */
  const probe = async (): Promise<number> => {
    let next = clock.now();
    while (next < Math.min(createdAt + interval, lastLook)) {
      try {
        const { data: media } = await look(
          () => next,
          () => send(getRenderMedia, { path }, row.reading()),
        );
        await media.cancel();
        return clock.now();
      } catch (error) {
        if (!isRefusedFile(error)) throw error;
        if (!(error instanceof NotReadyError)) return clock.now();
        const age = clock.now() - createdAt;
        times.announce(age + (error.retryAfter ?? 0));
        // A `Retry-After` that is too short is followed by longer waits.
        next = clock.now() + Math.max(error.retryAfter ?? unsaidRetryAfter, shortestRetry, Math.min(age, interval));
      }
    }
    return next;
  };

  /** Reads the status until the render is completed, or until its deadline. Without `next`, other renders show when to begin. */
  const wait = async (next?: number): Promise<Render> => {
    for (let pause = interval; ; ) {
      const render = await look(() => Math.min(next ?? firstLook(), lastLook), read);
      if (render === undefined) {
        next = clock.now() + unsaidRetryAfter;
        continue;
      }
      if (render.status === "completed") return render;
      next = clock.now() + pause;
      pause *= 2;
      await onPending?.(render, clock.now() - began);
    }
  };

  if (entry.render !== undefined) return ended(entry.render);
  while (!times.isKnown && clock.now() < firstLook()) {
    if (times.probe === undefined) {
      const render = probe().then(wait);
      const over = () => {
        times.probe = undefined;
      };
      times.probe = render.then(over, over);
      return render;
    }
    await row.sleep(firstLook() - clock.now(), times.probe);
  }
  return wait();
}
