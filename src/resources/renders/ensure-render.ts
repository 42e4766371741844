import * as z from "zod/mini";
import { RendertokenLimitError } from "../../errors/api.ts";
import { DeadlineError } from "../../errors/connection.ts";
import { StorageError } from "../../errors/storage.ts";
import type { Call } from "../../http/call.ts";
import { nameOf } from "../../http/endpoint.ts";
import type { RenderReference } from "../../references/references.ts";
import { matches } from "../../schemas/check.ts";
import { open, reference } from "../../schemas/shape.ts";
import type { ClientStorage } from "../../storage/client-storage.ts";
import { assertCertain, type Lock, waitForLock } from "../../storage/lock.ts";
import { fromJson, toJson } from "../../storage/values.ts";
import { dateOf } from "../../util/clock.ts";
import { isRecord } from "../../util/foreign.ts";
import { Latest } from "../../util/latest.ts";
import { webCrypto } from "../../util/runtime.ts";
import type { BatchRow, BatchTools } from "./batch-row.ts";
import { createRender, type Render, type RenderInput, render } from "./renders.endpoints.ts";
import type { TokenLimits } from "./token-limits.ts";

/** Maximum number of renders that one batch also keeps in memory. */
const keptInMemory = 2_000;

/** Milliseconds until a process has written what a lost storage did not take, after the storage is back. */
const writtenAfter = 3_000;

/** The stored record of a render, under its pair of composition and image. */
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
  if (matches(renderEntry, value)) return value;
  // If only the render is invalid, its reference still prevents a second creation.
  const known = isRecord(value) && { ...value, render: undefined };
  return matches(renderEntry, known) ? known : undefined;
}

/** The name of a pair in the storage. */
export const nameOfPair = ({ compositionReference, imageReference }: RenderInput): string =>
  `${compositionReference}:${imageReference}`;

/** The created renders, by the name of their pair. They are in the storage, and the latest ones also in memory in case the storage is lost. */
export class CreatedRenders {
  readonly #storage: ClientStorage;
  readonly #latest = new Latest<RenderEntry>(keptInMemory);

  constructor(storage: ClientStorage) {
    this.#storage = storage;
  }

  /** Resolves to "lost" while the storage is lost and the memory does not have the pair. */
  async get(pair: string): Promise<RenderEntry | "lost" | undefined> {
    const found = await this.#storage.find(`render:${pair}`);
    const latest = this.#latest.get(pair);
    if (found === "lost") return latest ?? "lost";
    const stored = entryOf(fromJson(found));
    // The storage can have lost the render, or have an older one, which would be created again.
    return latest !== undefined && (stored === undefined || stored.created < latest.created) ? latest : stored;
  }

  async set(pair: string, entry: RenderEntry): Promise<void> {
    this.#latest.set(pair, entry);
    await this.#storage.keep(`render:${pair}`, toJson(entry));
  }

  lock(pair: string, owner: string): Promise<Lock | "lost" | undefined> {
    return this.#storage.lock(`render-lease:${pair}`, { owner });
  }
}

/** What a creation needs of its batch. */
export interface Creator extends BatchTools {
  readonly created: CreatedRenders;
  readonly tokens: TokenLimits;
  /** Failed renders that were created before this time are created again; undefined for none. */
  readonly retryFailedBefore: number | undefined;
  /** Reports the progress. */
  readonly report: () => void;
}

/**
 * Creates the render of a pair unless the storage has it. One process creates it, under a lock; the others wait for its entry. While the
 * storage is lost, the row waits, because the render may have been paid for. With `storageLost: "continue"` it continues without a lock.
 */
export async function ensureRender(
  creator: Creator,
  pair: RenderInput,
  cost: number,
  row: BatchRow,
): Promise<RenderEntry> {
  const { created, retryFailedBefore = Number.NEGATIVE_INFINITY } = creator;
  const { clock, observer } = creator.context;
  const name = nameOfPair(pair);
  const owner = webCrypto().randomUUID();
  // Not a render of this run: each creation deducts tokens.
  const isRetried = ({ render, created }: RenderEntry) => render?.status === "failed" && created < retryFailedBefore;
  let wasLost = false;
  /** Resolves to "lost" if the storage is lost, and to undefined if the lock expired first: another process may have created it since. */
  const createLocked = async (lock: Lock): Promise<RenderEntry | "lost" | undefined> => {
    try {
      // Its holder may have lost the storage, too, and have the entry still to write.
      if (wasLost) await row.sleep(writtenAfter);
      wasLost = false;
      // Another process may have created it before this one got the lock.
      const latest = await created.get(name);
      if (latest === "lost" || (latest !== undefined && !isRetried(latest))) return latest;
      return await create(creator, pair, cost, row, lock, latest);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      return undefined;
    } finally {
      await lock.release();
    }
  };
  const attempt = async (): Promise<RenderEntry | "lost" | undefined> => {
    const known = await created.get(name);
    if (known !== undefined && known !== "lost" && !isRetried(known)) return known;
    const lock = known === "lost" ? known : await created.lock(name, owner);
    const made = typeof lock === "object" ? await createLocked(lock) : lock;
    wasLost ||= made === "lost";
    if (made === "lost" && creator.context.shared?.whenLost === "continue")
      return create(creator, pair, cost, row, undefined, undefined);
    return made;
  };
  const first = await attempt();
  if (typeof first === "object") return first;
  const late = () => new DeadlineError({ message: `Another process did not finish the render of ${name} in time.` });
  return waitForLock(attempt, first, {
    clock,
    sleep: (ms) => row.sleep(ms),
    report: (reason) => observer.reportLockWait(reason, row.callId, nameOf(createRender)),
    limit: { ms: row.waitTime(), late },
    longestLost: row.until && row.waitTime(),
  });
}

/**
 * Creates the render of a pair and stores it. Sends nothing if there is a lock that is no longer certain.
 *
 * @param failed The failed render that is created again.
 */
async function create(
  { send, context, created, tokens, report, retryFailedBefore = 0 }: Creator,
  pair: RenderInput,
  cost: number,
  row: BatchRow,
  lock: Lock | undefined,
  failed: RenderEntry | undefined,
): Promise<RenderEntry> {
  const reservation = await tokens.reserve(cost, row);
  const options = row.creating();
  // Only as many retries as the reserved tokens cover.
  const retry = { ...options.retry, retries: reservation.attempts - 1 };
  let sent: Call["attempts"] | undefined;
  let refusal: RendertokenLimitError | undefined;
  try {
    const use = { internal: true, check: () => assertCertain(lock) };
    const { data } = await send(createRender, { body: pair }, { ...options, retry }, use, (attempts) => {
      sent = attempts;
    });
    const { reference } = data;
    // The service returned the same render, which stays failed.
    const known = reference === failed?.reference ? failed.render : undefined;
    // If the machine's clock was set back, the render still belongs to this run.
    const entry: RenderEntry = {
      version: 1,
      reference,
      created: Math.max(dateOf(context.clock), retryFailedBefore),
      render: known,
    };
    await created.set(nameOfPair(pair), entry);
    return entry;
  } catch (error) {
    if (error instanceof RendertokenLimitError) refusal = error;
    throw error;
  } finally {
    // Attempts that the service did not receive, or refused, deducted no tokens.
    tokens.settle(reservation, sent?.mayHaveHappened ?? 0, refusal);
    report();
  }
}
