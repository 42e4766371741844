import { NotReadyError } from "../../../errors/api.ts";
import { attachCall, type PodPartnerError } from "../../../errors/base.ts";
import type { TimelineEntry } from "../../../errors/timeline.ts";
import { RenderFailedError, WaitTimeoutError } from "../../../errors/waiting.ts";
import { nameOf } from "../../../http/endpoint/endpoint.ts";
import { isRecord } from "../../../schemas/type-guards.ts";
import type { PartnerClock } from "../../../util/clock.ts";
import { isRefusedFile } from "../render-waiting.ts";
import { getRender } from "../renders.endpoints.ts";
import type { Render, RenderInput } from "../renders.schema.ts";
import type { BatchCalls } from "./calls.ts";
import { keyOfPair, type RenderEntries, type RenderEntry } from "./entries.ts";
import type { LookSchedule } from "./look-schedule.ts";
import type { RenderTimes } from "./render-times.ts";
import { RenderWait } from "./render-wait.ts";
import type { RowWork } from "./row-work.ts";
import type { Slots } from "./slots.ts";

interface CompletionParts {
  readonly calls: BatchCalls;
  readonly clock: PartnerClock;
  readonly entries: RenderEntries;
  readonly schedule: LookSchedule;
  readonly slots: Slots;
  readonly times: RenderTimes;
}

/** With `responses: "report"` a render can be any value. */
const statusOf = (render: unknown): unknown => (isRecord(render) ? render.status : undefined);

function failWith(error: PodPartnerError, timeline: readonly TimelineEntry[]): never {
  attachCall(error, { endpoint: nameOf(getRender), timeline });
  throw error;
}

/**
 * Waits until renders are completed, with as few requests as possible. Each render's status is looked up when it should be completed by
 * the times of other renders. Until one is completed, a single render is probed: the response for its file has a `Retry-After`.
 */
export class Completions {
  readonly #parts: CompletionParts;
  #probe: RenderWait | undefined;

  constructor(parts: CompletionParts) {
    this.#parts = parts;
  }

  /**
   * Resolves to the completed render of a pair. `onWait` is called when it has to wait.
   *
   * @throws `RenderFailedError`, or `WaitTimeoutError` if it is still pending at the deadline.
   */
  async of(pair: RenderInput, entry: RenderEntry, row: RowWork, onWait: () => void): Promise<Render> {
    if (entry.render !== undefined) return this.#ended(entry.render);
    const { clock, schedule, slots, times } = this.#parts;
    const key = keyOfPair(pair);
    const wait = new RenderWait(clock, times, entry, row);
    if (this.#probe === undefined && !times.isLearnt && wait.age < row.interval) {
      this.#probe = wait;
      wait.probes = true;
    }
    try {
      for (;;) {
        await schedule.turn(wait, row.left, onWait);
        const isLast = wait.isLast;
        const seen = await slots.run(row.left, async () => {
          // Other renders may have shown meanwhile that it is too early.
          return wait.due() > clock.now() ? "early" : await this.#look(key, entry, row, wait);
        });
        if (seen === "early") continue;
        if (seen !== undefined) return seen;
        schedule.changed();
        if (isLast) failWith(new WaitTimeoutError({ reference: entry.reference, waited: wait.waited }), wait.timeline);
      }
    } finally {
      if (this.#probe === wait) this.#probe = undefined;
      schedule.changed();
    }
  }

  /** Looks a render up once. Resolves to undefined while it is pending. */
  async #look(key: string, entry: RenderEntry, row: RowWork, wait: RenderWait): Promise<Render | undefined> {
    const known = await this.#parts.entries.read(key);
    if (typeof known === "object" && known.render !== undefined) return this.#ended(known.render);
    const file = wait.asksForFile ? await this.#file(entry, row, wait) : undefined;
    if (file === "pending") return undefined;
    const render = await this.#status(key, entry, row, wait);
    // The service has the file, whatever the status says.
    return file === "ready" || statusOf(render) === "completed" ? render : undefined;
  }

  /**
   * Asks whether the file is ready. Resolves to undefined if only the status can show what the response means. The picture is requested
   * again when it can be read: an open one would have to wait for the status, and keeps a connection.
   */
  async #file(entry: RenderEntry, row: RowWork, wait: RenderWait): Promise<"ready" | "pending" | undefined> {
    try {
      const media = await this.#parts.calls.media(entry.reference, row.reading());
      await media.cancel();
      return "ready";
    } catch (error) {
      if (error instanceof NotReadyError) {
        wait.notReady(error.retryAfter);
        return "pending";
      }
      if (isRefusedFile(error)) return undefined;
      throw error;
    }
  }

  /** Reads the status, and remembers the render if it has ended. */
  async #status(key: string, entry: RenderEntry, row: RowWork, wait: RenderWait): Promise<Render> {
    const { data: render, timeline } = await this.#parts.calls.render(entry.reference, row.reading());
    wait.timeline = timeline;
    const status = statusOf(render);
    if (status === "completed" || status === "failed") {
      await this.#parts.entries.write(key, { ...entry, render });
      if (status === "failed") return failWith(new RenderFailedError({ reference: entry.reference }), timeline);
      this.#parts.times.completed(render, wait.age);
      return render;
    }
    wait.pending(status === "pending");
    await row.onPending?.(render, wait.waited);
    return render;
  }

  #ended(render: Render): Render {
    if (render.status === "failed") failWith(new RenderFailedError({ reference: render.reference }), []);
    return render;
  }
}
