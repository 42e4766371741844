import { NotFoundError, NotReadyError } from "../../errors/api.ts";
import type { TimelineEntry } from "../../errors/base.ts";
import { attachCall, type PodPartnerError } from "../../errors/base.ts";
import { RenderFailedError, WaitTimeoutError } from "../../errors/renders.ts";
import { nameOf } from "../../http/endpoint.ts";
import { held } from "../../util/abort-signals.ts";
import { isRecord } from "../../util/foreign.ts";
import { latestTime } from "../../util/timestamp.ts";
import type { BatchRow, BatchTools } from "./batch-row.ts";
import { type RenderEntry, readEntry, writeEntry } from "./ensure-render.ts";
import { isRefusedFile, statusOf } from "./render-waiting.ts";
import { getRender, getRenderMedia, type Render } from "./renders.endpoints.ts";

/** Milliseconds before the next request for a file if the response has no `Retry-After`. */
const unsaidRetryAfter = 5_000;
/** Minimum milliseconds between two requests for a file. */
const shortestRetry = 1_000;
/** Milliseconds after its creation in which a render may not be readable yet. */
const unreadable = 30_000;
/** The number of the latest renders of which the slowest counts. */
const latestRenders = 20;
/** Timestamps can be cut to seconds: maximum milliseconds that a render may have taken longer than they say. */
const cutOff = 1_000;

/** A render that is waited for. */
interface Pending {
  readonly key: string;
  readonly entry: RenderEntry;
  readonly row: BatchRow;
  readonly began: number;
  /** The latest time of a look: so early that its response arrives before the deadline. */
  readonly lastLook: number;
}

function failWith(error: PodPartnerError, { callId }: BatchRow, timeline: readonly TimelineEntry[]): never {
  attachCall(error, { endpoint: nameOf(getRender), callId, timeline });
  throw error;
}

function ended(
  render: Render,
  { reference }: RenderEntry,
  row: BatchRow,
  timeline: readonly TimelineEntry[] = [],
): Render {
  if (statusOf(render) === "failed") failWith(new RenderFailedError({ reference }), row, timeline);
  return render;
}

/**
 * The renders that a batch waits for. The status of each is read when it is as old as the slowest of the latest renders was, and then at most
 * once in an interval. Until one was completed, one at a time is probed: its file's response has a `Retry-After`.
 */
export class PendingRenders {
  readonly #tools: BatchTools;
  /** Milliseconds that the latest renders took, or take at least. */
  readonly #times: number[] = [];
  /** The longest time that a `Retry-After` gave to a render, until one was completed. */
  #announced = 0;
  #completed = false;
  /** The probe that is running; it never rejects. */
  #probe: Promise<void> | undefined;

  constructor(tools: BatchTools) {
    this.#tools = tools;
  }

  /**
   * Resolves to the completed render of a pair.
   *
   * @throws `RenderFailedError`, or `WaitTimeoutError` if it is still pending at the deadline.
   */
  async completed(key: string, entry: RenderEntry, row: BatchRow): Promise<Render> {
    if (entry.render !== undefined) return ended(entry.render, entry, row);
    const { clock } = this.#tools;
    const began = clock.now();
    const time = row.waitTime();
    const pending = { key, entry, row, began, lastLook: began + time - Math.min(1_000, time / 4) };
    while (!this.#completed && clock.now() < this.#firstLook(pending)) {
      if (this.#probe === undefined) return this.#probing(pending);
      await this.#sleep(row, this.#firstLook(pending), this.#probe);
    }
    return this.#wait(pending, false);
  }

  /** When a render is looked at first. */
  #firstLook({ entry, lastLook }: Pending): number {
    const slowest = Math.max(...this.#times);
    const age = this.#completed ? slowest + Math.min(cutOff, slowest) : Math.max(this.#tools.interval, this.#announced);
    return Math.min(entry.created + age, lastLook);
  }

  /** A render was completed. The service's own timestamps show its time without the time until it was looked at. */
  #learn(render: Render, age: number): void {
    const { created, completed } = isRecord(render) ? render : {};
    const took = latestTime(`${completed}`) - latestTime(`${created}`);
    this.#took(Number.isFinite(took) ? Math.max(0, took) : age);
    this.#completed = true;
  }

  #took(ms: number): void {
    this.#times.push(ms);
    if (this.#times.length > latestRenders) this.#times.shift();
  }

  async #probing(pending: Pending): Promise<Render> {
    const render = this.#wait(pending, true);
    const over = () => {
      this.#probe = undefined;
    };
    this.#probe = render.then(over, over);
    return render;
  }

  /** Looks at a render until it is completed, or until its deadline. */
  async #wait(pending: Pending, probes: boolean): Promise<Render> {
    const { clock, slots, interval, onPending } = this.#tools;
    const { entry, row, began, lastLook } = pending;
    let isProbed = probes;
    let looks = 0;
    let next = probes ? clock.now() : undefined;
    // Other looks may show that the first look is too early.
    const due = () => Math.min(next ?? this.#firstLook(pending), lastLook);
    for (;;) {
      await this.#sleep(row, due());
      const giveBack = await slots.take(row.signal);
      try {
        const now = clock.now();
        if (now < due()) continue;
        // Another process may have seen its end.
        const known = (await readEntry(this.#tools.storage, pending.key))?.render;
        if (known !== undefined) return ended(known, entry, row);

        const file = isProbed && now - entry.created < interval ? await this.#file(pending) : undefined;
        if (typeof file === "number") {
          next = file;
          if (now >= lastLook) failWith(this.#timeout(pending), row, []);
          continue;
        }
        const seen = await this.#status(pending);
        if (seen === undefined) {
          next = clock.now() + unsaidRetryAfter;
          continue;
        }
        const { render, status, timeline } = seen;
        // The service has the file, whatever the status says. With `responses: "report"` it can be any value.
        const isReady =
          file === "ready" ||
          (status !== "pending" && status !== "completed" && (await this.#file(pending)) === "ready");
        if (status === "completed" || isReady) {
          this.#learn(render, clock.now() - entry.created);
          return render;
        }
        if (now >= lastLook) failWith(this.#timeout(pending), row, timeline);
        // It takes longer than the others. How long is not known: likely half of its age more.
        if (this.#completed) this.#took(1.5 * (clock.now() - entry.created));
        isProbed = false;
        next = clock.now() + interval * 2 ** looks;
        looks += 1;
        await onPending?.(render, clock.now() - began);
      } finally {
        giveBack();
      }
    }
  }

  #timeout({ entry, began }: Pending): WaitTimeoutError {
    return new WaitTimeoutError({ reference: entry.reference, waited: this.#tools.clock.now() - began });
  }

  /** Sleeps until a time, or until a probe is over. */
  async #sleep(row: BatchRow, until: number, probe?: Promise<void>): Promise<void> {
    const { clock } = this.#tools;
    const ms = until - clock.now();
    if (ms <= 0) return;
    row.waits();
    await held<void>(row.signal, (resolve) => {
      const stop = clock.after(ms, () => resolve());
      void probe?.then(() => {
        stop();
        resolve();
      });
      return stop;
    });
  }

  /**
   * Asks whether the file is ready. Resolves to the time of the next request while it is not, and to undefined if only the status can show
   * what the response means. The picture is requested again when it can be read: an open one would have to wait for the status, and keeps a
   * connection.
   */
  async #file({ entry, row }: Pending): Promise<"ready" | number | undefined> {
    const { send, clock, requests, interval } = this.#tools;
    const path = { renderReference: entry.reference };
    try {
      const { data: media } = await requests.of(send(getRenderMedia, { path }, row.reading()));
      await media.cancel();
      return "ready";
    } catch (error) {
      if (!(error instanceof NotReadyError)) {
        if (isRefusedFile(error)) return undefined;
        throw error;
      }
      const age = clock.now() - entry.created;
      this.#announced = Math.max(this.#announced, age + (error.retryAfter ?? 0));
      // A `Retry-After` that is too short is followed by longer waits.
      const wait = Math.max(error.retryAfter ?? unsaidRetryAfter, shortestRetry, Math.min(age, interval));
      return clock.now() + wait;
    }
  }

  /** Reads the status, and remembers the render if it has ended. Resolves to undefined while a new render is not readable. */
  async #status({ key, entry, row, lastLook }: Pending) {
    const { send, clock, storage, requests } = this.#tools;
    const path = { renderReference: entry.reference };
    const until = Math.min(entry.created + unreadable, lastLook);
    const seen = await requests.of(send(getRender, { path }, row.reading())).catch((error: unknown) => {
      if (error instanceof NotFoundError && clock.now() < until) return undefined;
      throw error;
    });
    if (seen === undefined) return undefined;
    const { data: render, timeline } = seen;
    const status = statusOf(render);
    if (status === "completed" || status === "failed") await writeEntry(storage, key, { ...entry, render });
    ended(render, entry, row, timeline);
    return { render, status, timeline };
  }
}
