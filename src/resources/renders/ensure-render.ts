import * as z from "zod/mini";
import { RendertokenLimitError } from "../../errors/api.ts";
import type { TimelineEntry } from "../../errors/base.ts";
import { DeadlineError } from "../../errors/connection.ts";
import type { RenderReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { check } from "../../schemas/check.ts";
import { open } from "../../schemas/shape.ts";
import type { ClientStorage } from "../../storage/client-storage.ts";
import type { Lock } from "../../storage/lock.ts";
import { fromJson, toJson } from "../../storage/values.ts";
import { held } from "../../util/abort-signals.ts";
import { isRecord } from "../../util/foreign.ts";
import { attemptsOf, type BatchRow, type BatchTools, timelineOf } from "./batch-row.ts";
import { createRender, type Render, type RenderInput, render } from "./renders.endpoints.ts";
import type { Reservation, TokenLimits } from "./token-limits.ts";

/** When the holder of a lock dies, its pair is free after so many milliseconds. */
const lockTime = 30_000;
/** Milliseconds between two reads of a pair that another process has locked: they double up to the longest. */
const shortestRead = 100;
const longestRead = 2_000;

/** What is remembered of a pair whose render was created. */
export interface RenderEntry {
  readonly version: 1;
  readonly reference: RenderReference;
  /** When the response to the creation arrived, in milliseconds since 1970. */
  readonly created: number;
  /** The render, once it is completed or failed. */
  readonly render?: Render | undefined;
}

const renderEntry = () =>
  open<RenderEntry>({
    version: z.literal(1),
    reference: reference("Render"),
    created: z.number(),
    render: z.optional(render()),
  });

function entryOf(value: unknown): RenderEntry | undefined {
  // The value itself: the copy of the check lacks the fields that this version does not know.
  if (check(renderEntry, value, []).ok) return value as RenderEntry;
  // With `responses: "report"` the render can be anything. Then only its reference counts, so that it is not created again.
  const checked = check(renderEntry, isRecord(value) ? { ...value, render: undefined } : value, []);
  return checked.ok ? (checked.value as RenderEntry) : undefined;
}

/** The key of a pair of composition and image. */
export const keyOfPair = ({ compositionReference, imageReference }: RenderInput): string =>
  `render:${compositionReference}:${imageReference}`;

/** An entry with its bytes in the storage; or "locked" while a process creates the render, whose lock then has the key. */
type Stored = { readonly entry: RenderEntry; readonly bytes: Uint8Array } | "locked" | undefined;

async function readStored(storage: ClientStorage, key: string): Promise<Stored> {
  const bytes = await storage.get(key);
  if (bytes === undefined) return undefined;
  const value = fromJson(bytes);
  if (value === undefined) return "locked";
  const entry = entryOf(value);
  if (entry !== undefined) return { entry, bytes };
  // Another version of the SDK wrote it.
  await storage.delete(key, { expected: bytes });
  return undefined;
}

/** Reads the entry of a pair; undefined if it has none, or not yet. */
export async function readEntry(storage: ClientStorage, key: string): Promise<RenderEntry | undefined> {
  const stored = await readStored(storage, key);
  return stored === "locked" ? undefined : stored?.entry;
}

export const writeEntry = (storage: ClientStorage, key: string, entry: RenderEntry): Promise<unknown> =>
  storage.set(key, toJson(entry));

/** What creations need of a batch. */
export interface Creator extends BatchTools {
  readonly tokens: TokenLimits;
  /** Renders that failed and were created before this time are created again; undefined for none. */
  readonly retryFailedBefore: number | undefined;
  readonly onCreated: () => void;
}

/** Creates the render of a pair, unless the storage has it. One process creates it, under a lock; the others wait for its entry. */
export async function ensureRender(
  creator: Creator,
  pair: RenderInput,
  cost: number,
  row: BatchRow,
): Promise<RenderEntry> {
  const { clock, storage, tokens, retryFailedBefore = Number.NEGATIVE_INFINITY } = creator;
  const key = keyOfPair(pair);
  const until = clock.now() + row.waitTime();
  for (let pause = shortestRead; ; pause = Math.min(2 * pause, longestRead)) {
    const stored = await readStored(storage, key);
    if (stored !== "locked") {
      // One that was created during this run is not created again: each creation deducts tokens.
      const retried = stored?.entry.render?.status === "failed" && stored.entry.created < retryFailedBefore;
      if (stored !== undefined && !retried) return stored.entry;
      const reservation = await tokens.reserve(cost, row);
      if (stored !== undefined) await storage.delete(key, { expected: stored.bytes });
      const lock = await storage.lock(key, lockTime);
      if (lock !== undefined) return create(creator, pair, row, { cost, reservation, lock, failed: stored?.entry });
      reservation.settle(0);
    }
    if (clock.now() >= until) throw new DeadlineError({ message: `Another process did not finish ${key} in time.` });
    row.waits();
    await held<void>(row.signal, (resolve) => clock.after(pause, () => resolve()));
  }
}

/** The right to create the render of a pair. */
interface Right {
  readonly cost: number;
  readonly reservation: Reservation;
  readonly lock: Lock | "lost";
  /** The failed render that is created again. */
  readonly failed: RenderEntry | undefined;
}

/** The attempts of a creation that may have deducted tokens. An error of the service itself (4xx, apart from 408) deducted none. */
const deductions = (timeline: readonly TimelineEntry[]): number =>
  attemptsOf(timeline).filter(({ outcome }) => outcome === "408" || !/^4\d\d$/.test(outcome)).length;

/** Creates the render of a pair, and remembers it. */
async function create(
  { send, requests, clock, storage, tokens, onCreated }: Creator,
  pair: RenderInput,
  row: BatchRow,
  { cost, reservation, lock, failed }: Right,
): Promise<RenderEntry> {
  const key = keyOfPair(pair);
  let deducted = 0;
  let inDoubt = false;
  let refusal: RendertokenLimitError | undefined;
  try {
    if (row.signal.aborted) throw row.signal.reason;
    const options = row.creating();
    // The budget covers its retries.
    const retry = { ...options.retry, retries: reservation.attempts - 1 };
    const { data, timeline } = await requests.of(send(createRender, { body: pair }, { ...options, retry }, true));
    deducted = deductions(timeline);
    // Of several attempts, the earlier ones have no response.
    inDoubt = deducted > 1;
    // The same pair has the same render, which stays failed.
    const known = data.reference === failed?.reference ? failed.render : undefined;
    const entry = {
      version: 1,
      reference: data.reference,
      created: clock.now(),
      ...(known && { render: known }),
    } as const;
    await writeEntry(storage, key, entry);
    return entry;
  } catch (error) {
    deducted = deductions(timelineOf(error));
    inDoubt = deducted > 0;
    if (error instanceof RendertokenLimitError) refusal = error;
    if (failed !== undefined) await writeEntry(storage, key, failed);
    throw error;
  } finally {
    reservation.settle(deducted, inDoubt);
    if (refusal !== undefined) tokens.refused(cost, refusal);
    onCreated();
    // After a success the key holds the entry, which stays.
    if (lock !== "lost") await lock.release();
  }
}
