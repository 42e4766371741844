import * as z from "zod/mini";
import { RendertokenLimitError } from "../../../errors/api.ts";
import { DeadlineError } from "../../../errors/connection.ts";
import type { RenderReference } from "../../../references/references.ts";
import { reference } from "../../../references/schema.ts";
import { check } from "../../../schemas/check.ts";
import { open } from "../../../schemas/shape.ts";
import { isRecord } from "../../../schemas/type-guards.ts";
import type { ClientStorage } from "../../../storage/client-storage.ts";
import type { Lock } from "../../../storage/lock.ts";
import { fromJson, toJson } from "../../../storage/values.ts";
import { held } from "../../../util/abort-signals.ts";
import type { PartnerClock } from "../../../util/clock.ts";
import { type Render, type RenderInput, render } from "../renders.schema.ts";
import type { BatchCalls, Row } from "./calls.ts";
import type { Reservation, Tokens } from "./tokens.ts";

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

/** An entry with its bytes in the store; or "locked" while a process creates the render, whose lock then has the key. */
type Stored = { readonly entry: RenderEntry; readonly bytes: Uint8Array } | "locked" | undefined;

async function readStored(store: ClientStorage, key: string): Promise<Stored> {
  const bytes = await store.get(key);
  if (bytes === undefined) return undefined;
  const value = fromJson(bytes);
  if (value === undefined) return "locked";
  const entry = entryOf(value);
  if (entry !== undefined) return { entry, bytes };
  // Another version of the SDK wrote it.
  await store.delete(key, { expected: bytes });
  return undefined;
}

/** Reads the entry of a pair; undefined if it has none, or not yet. */
export async function readEntry(store: ClientStorage, key: string): Promise<RenderEntry | undefined> {
  const stored = await readStored(store, key);
  return stored === "locked" ? undefined : stored?.entry;
}

export const writeEntry = (store: ClientStorage, key: string, entry: RenderEntry): Promise<unknown> =>
  store.set(key, toJson(entry));

/** What creations need of a batch. */
export interface Creator {
  readonly calls: BatchCalls;
  readonly clock: PartnerClock;
  readonly store: ClientStorage;
  readonly tokens: Tokens;
  /** Renders that failed and were created before this time are created again; undefined for none. */
  readonly retryFailedBefore: number | undefined;
  readonly onCreated: () => void;
}

/**
 * Creates the render of a pair, unless the store has it. One process creates it, under a lock; the others wait for its entry. `onWait` is
 * called if this one has to wait.
 */
export async function createOnce(
  creator: Creator,
  pair: RenderInput,
  cost: number,
  row: Row,
  onWait: () => void,
): Promise<RenderEntry> {
  const { clock, store, tokens, retryFailedBefore = Number.NEGATIVE_INFINITY } = creator;
  const key = keyOfPair(pair);
  const until = clock.now() + row.waitTime();
  for (let pause = shortestRead; ; pause = Math.min(2 * pause, longestRead)) {
    const stored = await readStored(store, key);
    if (stored !== "locked") {
      // One that was created during this run is not created again: each creation deducts tokens.
      const retried = stored?.entry.render?.status === "failed" && stored.entry.created < retryFailedBefore;
      if (stored !== undefined && !retried) return stored.entry;
      const reservation = await tokens.reserve(cost, row);
      if (stored !== undefined) await store.delete(key, { expected: stored.bytes });
      const lock = await store.lock(key, lockTime);
      if (lock !== undefined) return create(creator, pair, cost, row, { reservation, lock, failed: stored?.entry });
      reservation.settle(0);
    }
    if (clock.now() >= until) throw new DeadlineError({ message: `Another process did not finish ${key} in time.` });
    onWait();
    await held<void>(row.signal, (resolve) => clock.after(pause, () => resolve()));
  }
}

/** The right to create the render of a pair. */
interface Right {
  readonly reservation: Reservation;
  readonly lock: Lock | "lost";
  /** The failed render that is created again. */
  readonly failed: RenderEntry | undefined;
}

async function create(
  { calls, clock, store, tokens, onCreated }: Creator,
  pair: RenderInput,
  cost: number,
  row: Row,
  { reservation, lock, failed }: Right,
): Promise<RenderEntry> {
  const key = keyOfPair(pair);
  let used = 0;
  let refusal: RendertokenLimitError | undefined;
  try {
    if (row.signal.aborted) throw row.signal.reason;
    const options = row.creating();
    // The budget covers its retries.
    const retry = { ...options.retry, retries: reservation.attempts - 1 };
    const { reference } = await calls.create(pair, { ...options, retry }, (count) => {
      used = count;
    });
    // The same pair has the same render, which stays failed.
    const known = reference === failed?.reference ? failed.render : undefined;
    const entry: RenderEntry = { version: 1, reference, created: clock.now(), ...(known && { render: known }) };
    await writeEntry(store, key, entry);
    return entry;
  } catch (error) {
    if (error instanceof RendertokenLimitError) refusal = error;
    if (failed !== undefined) await writeEntry(store, key, failed);
    throw error;
  } finally {
    reservation.settle(used);
    if (refusal !== undefined) tokens.refused(cost, refusal);
    onCreated();
    // After a success the key holds the entry, which stays.
    if (lock !== "lost") await lock.release();
  }
}
