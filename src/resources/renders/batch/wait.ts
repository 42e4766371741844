import { NotReadyError } from "../../../errors/api.ts";
import { attachCall, type PodPartnerError, type TimelineEntry } from "../../../errors/base.ts";
import { RenderFailedError, WaitTimeoutError } from "../../../errors/renders.ts";
import { nameOf } from "../../../http/endpoint.ts";
import { isRecord } from "../../../schemas/type-guards.ts";
import type { ClientStorage } from "../../../storage/client-storage.ts";
import { onAbort } from "../../../util/abort-signals.ts";
import type { PartnerClock } from "../../../util/clock.ts";
import type { Slots } from "../../../util/slots.ts";
import { latestTime } from "../../../util/timestamp.ts";
import { isRefusedFile } from "../render-waiting.ts";
import { getRender } from "../renders.endpoints.ts";
import type { Render } from "../renders.schema.ts";
import type { BatchCalls, Row } from "./calls.ts";
import { type RenderEntry, readEntry, writeEntry } from "./create.ts";

/** Milliseconds before the next request for a file if the response has no `Retry-After`. */
const unsaidRetryAfter = 5_000;
/** Minimum milliseconds between two requests for a file. */
const shortestRetry = 1_000;
/** The number of the latest renders whose times count, and the part of them that should be completed at a first look. */
const latestTimes = { count: 32, part: 0.95 };
/** The parts of a render's age, and of the interval, by which the rate may delay its look. */
const delay = { ofAge: 1 / 6, ofInterval: 1 / 4 };
/** Milliseconds by which looks may be ahead of the rate: a late timer delays none. */
const aheadOfRate = 100;

/** With `responses: "report"` a render can be any value. */
const statusOf = (render: unknown): unknown => (isRecord(render) ? render.status : undefined);

/** Learns how long renders take, so that most are looked at once, when they are completed. */
class RenderTimes {
  readonly #times: number[] = [];
  /** Milliseconds from the creation of a render to its first look; undefined until a render was completed. */
  firstLook: number | undefined;
  /** The longest time that a pending render seemed to need before any was completed. */
  longestPending = 0;

  /** A render was completed. The service's own timestamps show its time without the time until it was looked at. */
  completed({ created, completed }: Render, age: number): void {
    const time = completed ? latestTime(completed) - latestTime(created) : Number.NaN;
    this.#add(Number.isFinite(time) ? Math.max(0, time) : age);
  }

  /** A render of this age was pending. `retryAfter` is the time that the service gave, in milliseconds. */
  pending(age: number, retryAfter = 0): void {
    const likely = age + Math.max(retryAfter, age / 2);
    this.longestPending = Math.max(this.longestPending, likely);
    if (this.firstLook !== undefined) this.#add(likely);
  }

  #add(time: number): void {
    this.#times.push(time);
    if (this.#times.length > latestTimes.count) this.#times.shift();
    const sorted = this.#times.toSorted((one, other) => one - other);
    const long = sorted[Math.ceil(latestTimes.part * sorted.length) - 1] ?? 0;
    // Timestamps may be rounded to seconds.
    const margin = long % 1_000 === 0 ? 1_000 : 250;
    this.firstLook = long === 0 ? 0 : long * 1.01 + margin;
  }
}

/** A promise with the functions that settle it. */
function promised<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

/** A render that is waited for. */
interface Pending {
  readonly key: string;
  readonly entry: RenderEntry;
  readonly row: Row;
  readonly began: number;
  /** The latest time of a look: so early that its response arrives before the deadline. */
  readonly lastLook: number;
  /** The next look at the earliest, after the first one. */
  notBefore: number;
  /** The number of looks that found its status pending. */
  looks: number;
  /** Whether it is looked at before its time, to learn how long renders take. */
  probes: boolean;
  /** Whether only its file shows whether it is completed. */
  byFile: boolean;
  /** The steps of the last request. */
  timeline: readonly TimelineEntry[];
  /** Is called when it is not looked at now. */
  readonly onWait: () => void;
  readonly resolve: (render: Render) => void;
  readonly reject: (reason: unknown) => void;
}

interface WaitParts {
  readonly calls: BatchCalls;
  readonly clock: PartnerClock;
  readonly store: ClientStorage;
  readonly slots: Slots;
  /** Milliseconds between two requests at the rate that the service sustains. */
  readonly spacing: () => number;
}

function failWith(error: PodPartnerError, timeline: readonly TimelineEntry[]): never {
  attachCall(error, { endpoint: nameOf(getRender), timeline });
  throw error;
}

function ended(render: Render): Render {
  if (render.status === "failed") failWith(new RenderFailedError({ reference: render.reference }), []);
  return render;
}

/**
 * The renders that a batch waits for. One loop looks at them, each when it should be completed, one after the other at the rate that the
 * service sustains. A look reads the status, at most once in an interval for each render, apart from the last one before its deadline.
 *
 * Until a render was completed, a single one is probed: its file's response has a `Retry-After`.
 */
export class PendingRenders {
  readonly #parts: WaitParts;
  readonly #times = new RenderTimes();
  readonly #pending = new Set<Pending>();
  #probe: Pending | undefined;
  #looping = false;
  /** Ends the sleep of the loop. */
  #wake: () => void = () => undefined;
  /** From this time on, the rate allows the next look. */
  #nextLook = Number.NEGATIVE_INFINITY;

  constructor(parts: WaitParts) {
    this.#parts = parts;
  }

  /**
   * Resolves to the completed render of a pair. `onWait` is called if it is not looked at now.
   *
   * @throws `RenderFailedError`, or `WaitTimeoutError` if it is still pending at the deadline.
   */
  async completed(key: string, entry: RenderEntry, row: Row, onWait: () => void): Promise<Render> {
    if (entry.render !== undefined) return ended(entry.render);
    if (row.signal.aborted) throw row.signal.reason;
    const began = this.#parts.clock.now();
    const time = row.waitTime();
    const lastLook = began + time - Math.min(1_000, time / 4);
    const probes =
      this.#probe === undefined && this.#times.firstLook === undefined && began - entry.created < row.interval;
    const state = { notBefore: began, looks: 0, probes, byFile: false, timeline: [] };
    const { promise, resolve, reject } = promised<Render>();
    const pending: Pending = { key, entry, row, began, lastLook, ...state, onWait, resolve, reject };
    if (probes) this.#probe = pending;
    const stopListening = onAbort(row.signal, reject);
    this.#add(pending);
    try {
      return await promise;
    } finally {
      stopListening();
      if (this.#probe === pending) this.#probe = undefined;
      this.#pending.delete(pending);
      this.#wake();
    }
  }

  #add(pending: Pending): void {
    this.#pending.add(pending);
    if (this.#timeOf(pending) > this.#parts.clock.now()) pending.onWait();
    this.#wake();
    if (!this.#looping) void this.#loop();
  }

  /** Looks at each render at its time, until none is left. */
  async #loop(): Promise<void> {
    const { clock, slots, spacing } = this.#parts;
    this.#looping = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const wait = next.at - clock.now();
      if (wait > 0) {
        await this.#sleep(wait);
        continue;
      }
      const giveBack = await slots.take(next.pending.row.signal).catch(() => undefined);
      if (giveBack === undefined) continue;
      // Other looks may have shown meanwhile that it is too early.
      const due = this.#next();
      if (due === undefined || due.at > clock.now()) {
        giveBack();
        continue;
      }
      this.#pending.delete(due.pending);
      if (!due.pending.probes) this.#nextLook = Math.max(this.#nextLook, clock.now() - aheadOfRate) + spacing();
      void this.#look(due.pending).finally(giveBack);
    }
    this.#looping = false;
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.#parts.clock.after(ms, () => resolve());
      this.#wake = () => {
        stop();
        resolve();
      };
    });
  }

  /** The render whose look comes next, and the time of the look. */
  #next(): { readonly pending: Pending; readonly at: number } | undefined {
    let next: { readonly pending: Pending; readonly at: number } | undefined;
    for (const pending of this.#pending) {
      const at = this.#timeOf(pending);
      if (next === undefined || at < next.at) next = { pending, at };
    }
    return next;
  }

  #timeOf({ entry, row, looks, probes, notBefore, lastLook }: Pending): number {
    if (probes) return Math.min(notBefore, lastLook);
    const { firstLook = Math.max(row.interval, this.#times.longestPending) } = this.#times;
    const due = looks === 0 ? Math.max(notBefore, entry.created + firstLook) : notBefore;
    const longestDelay = Math.min((due - entry.created) * delay.ofAge, row.interval * delay.ofInterval);
    return Math.min(Math.max(due, this.#nextLook), due + longestDelay, lastLook);
  }

  #ageOf({ entry }: Pending): number {
    return this.#parts.clock.now() - entry.created;
  }

  /** Looks at a render. It stays in the loop while it is pending. */
  async #look(pending: Pending): Promise<void> {
    const { clock } = this.#parts;
    const isLast = clock.now() >= pending.lastLook;
    try {
      const render = await this.#ask(pending);
      if (render !== undefined) return pending.resolve(render);
      const { entry, began, timeline } = pending;
      const waited = clock.now() - began;
      if (isLast) failWith(new WaitTimeoutError({ reference: entry.reference, waited }), timeline);
      if (!pending.row.signal.aborted) this.#add(pending);
    } catch (error) {
      pending.reject(error);
    }
  }

  /** Resolves to undefined while a render is pending. */
  async #ask(pending: Pending): Promise<Render | undefined> {
    const { key, row } = pending;
    // Another process may have seen its end.
    const known = await readEntry(this.#parts.store, key);
    if (known?.render !== undefined) return ended(known.render);
    const asksForFile = pending.byFile || (pending.probes && this.#ageOf(pending) < row.interval);
    const file = asksForFile ? await this.#file(pending) : undefined;
    if (file === "pending") return undefined;
    const render = await this.#status(pending);
    // The service has the file, whatever the status says.
    return file === "ready" || statusOf(render) === "completed" ? render : undefined;
  }

  /**
   * Asks whether the file is ready. Resolves to undefined if only the status can show what the response means. The picture is requested
   * again when it can be read: an open one would have to wait for the status, and keeps a connection.
   */
  async #file(pending: Pending): Promise<"ready" | "pending" | undefined> {
    const { entry, row } = pending;
    try {
      const media = await this.#parts.calls.media(entry.reference, row.reading());
      await media.cancel();
      return "ready";
    } catch (error) {
      if (error instanceof NotReadyError) {
        const age = this.#ageOf(pending);
        this.#times.pending(age, error.retryAfter);
        // A `Retry-After` that is too short is followed by longer waits.
        const wait = Math.max(error.retryAfter ?? unsaidRetryAfter, shortestRetry, Math.min(age, row.interval));
        pending.notBefore = this.#parts.clock.now() + wait;
        return "pending";
      }
      if (isRefusedFile(error)) return undefined;
      throw error;
    }
  }

  /** Reads the status, and remembers the render if it has ended. */
  async #status(pending: Pending): Promise<Render> {
    const { key, entry, row, began } = pending;
    const { calls, clock, store } = this.#parts;
    const { data: render, timeline } = await calls.render(entry.reference, row.reading());
    pending.timeline = timeline;
    const status = statusOf(render);
    if (status === "completed" || status === "failed") {
      await writeEntry(store, key, { ...entry, render });
      if (status === "failed") failWith(new RenderFailedError({ reference: entry.reference }), timeline);
      this.#times.completed(render, this.#ageOf(pending));
      return render;
    }
    this.#times.pending(this.#ageOf(pending));
    pending.byFile = status !== "pending";
    pending.probes = false;
    pending.notBefore = clock.now() + row.interval * 2 ** pending.looks;
    pending.looks += 1;
    await row.onPending?.(render, clock.now() - began);
    return render;
  }
}
