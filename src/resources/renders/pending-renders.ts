import { attachCall } from "../../errors/base.ts";
import { RenderFailedError } from "../../errors/renders.ts";
import { nameOf } from "../../http/endpoint.ts";
import { dateOf } from "../../util/clock.ts";
import { isRecord } from "../../util/foreign.ts";
import { latestTime } from "../../util/timestamp.ts";
import type { BatchRow, BatchTools } from "./batch-row.ts";
import type { CreatedRenders, RenderEntry } from "./ensure-render.ts";
import { isRefusedFile, type Watch, waitForFile, waitForRender } from "./render-waiting.ts";
import { getRender, getRenderMedia, type Render } from "./renders.endpoints.ts";

/** Milliseconds after its creation for which a render may not be readable yet. */
const unreadable = 30_000;
/** The number of latest renders of which the slowest counts. */
const latestRenders = 20;
/** Minimum milliseconds before a render that was read too early is looked at again. */
const minPause = 1_000;
/** Timestamps can be truncated to seconds: a render may have taken up to this many milliseconds longer than they say. */
const cutOff = 1_000;

/** Estimates how long the renders of a batch take. */
export class RenderTimes {
  /** The wait for the first render, whose file is requested because its response has a `Retry-After`. Never rejects. */
  first: Promise<void> | undefined;
  /** Milliseconds that the latest renders took. Empty until one was completed. */
  readonly #latest: number[] = [];
  /** The longest time that a `Retry-After` gave for the first render; at least one interval. */
  #announced: number;

  constructor(interval: number) {
    this.#announced = interval;
  }

  get isKnown(): boolean {
    return this.#latest.length > 0;
  }

  /** The age at which the status of a render is read, in milliseconds. */
  get usual(): number {
    return this.isKnown ? Math.max(...this.#latest) : this.#announced;
  }

  announce(ms: number): void {
    this.#announced = Math.max(this.#announced, ms);
  }

  /** Adds a completed render and its age when it was read. The timestamps of the service, if any, are more exact. */
  add(render: Render, age: number): void {
    const { created, completed } = isRecord(render) ? render : {};
    const took = Math.max(0, latestTime(`${completed}`) - latestTime(`${created}`));
    this.#latest.push(Number.isFinite(took) ? Math.min(Math.max(age, took), took + cutOff) : age);
    if (this.#latest.length > latestRenders) this.#latest.shift();
  }
}

/** What a wait for a render needs of its batch. */
interface Waits extends BatchTools {
  readonly created: CreatedRenders;
  readonly times: RenderTimes;
}

/**
 * Waits for the render of a pair and stores the result. For the first render of a batch it requests the file. For the others it reads the
 * status when they are as old as the slowest of the latest renders was. A render that is pending then takes longer than those before it: its
 * file is requested, which may happen more often than a read of the status, each time when the render is half as old again.
 *
 * @throws `RenderFailedError`, or `WaitTimeoutError` if it is still pending at the deadline.
 */
export async function completedRender(
  { send, context, interval, onPending, created, times }: Waits,
  pair: string,
  entry: RenderEntry,
  row: BatchRow,
): Promise<Render> {
  const { reference } = entry;
  const { clock } = context;
  const began = clock.now();
  /** When it was created, by this clock. */
  const createdAt = began - Math.max(0, dateOf(clock) - entry.created);
  const age = () => clock.now() - createdAt;
  const time = row.waitTime();
  /** Early enough that the response arrives before the deadline. */
  const lastLook = began + time - Math.min(1_000, time / 4);
  const due = () => Math.min(createdAt + times.usual, lastLook);
  const options = () => ({
    ...row.reading(),
    deadline: Math.max(1, began + time - clock.now()),
    interval,
    onPending,
  });

  const ended = (render: Render): Render => {
    if (render.status !== "failed") return render;
    const error = new RenderFailedError({ reference });
    attachCall(error, { endpoint: nameOf(getRender), callId: row.callId, timeline: [] });
    throw error;
  };

  let seen: Render | undefined;
  let seenAt = 0;
  const watch: Watch = {
    send,
    isNew: () => age() < unreadable,
    waits: (ms) => {
      row.onlyWaits();
      return ms;
    },
    asksOnce: () => clock.now() < lastLook,
    saw: (render) => {
      seen = render;
      seenAt = clock.now();
    },
  };

  /** Whether the file was ready. The status may still say otherwise for a moment. */
  let isReady = false;
  const sleep = (ms: number) => row.sleep(Math.min(ms, lastLook - clock.now()));

  /** Waits until the file is ready and closes it. It is requested again later: an open file would keep a connection during the status read. */
  const byFile = async (waits: Watch["waits"]): Promise<void> => {
    try {
      const media = await waitForFile(context, getRenderMedia, reference, options(), { ...watch, waits });
      await media.cancel();
      isReady = true;
    } catch (error) {
      // Only the status shows what the refusal means, and the next run needs the status.
      if (error instanceof RenderFailedError) return;
      if (!isRefusedFile(error)) throw error;
      if (seen?.status === "pending") await sleep(seenAt + interval - clock.now());
    }
  };

  const readStatus = async (): Promise<Render> => {
    const asked = age();
    try {
      if (seen !== undefined && seen.status !== "pending") return seen;
      // Another process may have stored the result.
      const known = await created.get(pair);
      if (known !== "lost" && known?.render !== undefined && known.reference === reference) return known.render;
      return await waitForRender(context, reference, options(), watch);
    } finally {
      const render = seen as Render | undefined;
      if (render?.status === "completed") times.add(render, asked);
      if (render !== undefined && render.status !== "pending") await created.set(pair, { ...entry, render });
    }
  };

  /** Waits for a render that was pending when its status was read: an interval, or less by its file if it may be ready much earlier. */
  const longer = async (): Promise<void> => {
    const pause = () => Math.min(Math.max(age() / 2, minPause), interval);
    const waitsByFile = !isReady && age() < interval / 2;
    await sleep(waitsByFile ? pause() : interval);
    if (waitsByFile && clock.now() < lastLook) await byFile((ms) => watch.waits(Math.max(ms, pause())));
  };

  const byStatus = async (): Promise<Render> => {
    for (;;) {
      const render = await readStatus();
      if (render.status !== "pending") return ended(render);
      await longer();
    }
  };

  if (entry.render !== undefined) return ended(entry.render);
  while (clock.now() < due()) {
    if (!times.isKnown && times.first === undefined) {
      const announce = (ms: number) => {
        times.announce(age() + ms);
        return watch.waits(ms);
      };
      const render = byFile(announce).then(byStatus);
      const over = () => {
        times.first = undefined;
      };
      times.first = render.then(over, over);
      return render;
    }
    await row.sleep(due() - clock.now(), times.first);
  }
  return byStatus();
}
