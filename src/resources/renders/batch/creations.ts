import { RendertokenLimitError } from "../../../errors/api.ts";
import { DeadlineError } from "../../../errors/connection.ts";
import { keepLease, type Lease } from "../../../stores/lease.ts";
import type { PartnerClock } from "../../../util/clock.ts";
import type { RenderInput } from "../renders.schema.ts";
import type { BatchWaits } from "./batch-waits.ts";
import type { BatchCalls } from "./calls.ts";
import { keyOfPair, type RenderEntries, type RenderEntry } from "./entries.ts";
import type { RowWork } from "./row-work.ts";
import type { Reservation, Tokens } from "./tokens.ts";

/** Milliseconds of a lease. When its holder dies, the pair is free after this time. */
const leaseTime = 30_000;
/** Milliseconds between two reads of a pair that another process has leased: they double up to the longest. */
const shortestRead = 100;
const longestRead = 2_000;

/** The render of a pair. */
export interface ObtainedRender {
  readonly entry: RenderEntry;
  /** Whether this batch created it. */
  readonly created: boolean;
}

/** The right to create the render of a pair. */
interface Right {
  readonly reservation: Reservation;
  readonly lease: Lease | "lost";
  /** The failed render that is created again. */
  readonly failed: RenderEntry | undefined;
}

interface CreationParts {
  readonly calls: BatchCalls;
  readonly clock: PartnerClock;
  readonly entries: RenderEntries;
  readonly tokens: Tokens;
  readonly waits: BatchWaits;
  /** Whether the creation of a render that failed in an earlier run is sent again. */
  readonly retryFailed: boolean;
  readonly onCreated: () => void;
}

/** Creates the render of a pair unless the store has it. One process creates it, under a lease; the others wait for its entry. */
export class Creations {
  readonly #parts: CreationParts;
  readonly #began: number;

  constructor(parts: CreationParts) {
    this.#parts = parts;
    this.#began = parts.clock.now();
  }

  /** Resolves to the render of a pair. `onWait` is called if another process is creating it. */
  async obtain(pair: RenderInput, cost: number, row: RowWork, onWait: () => void): Promise<ObtainedRender> {
    const { clock, entries, tokens, waits } = this.#parts;
    const key = keyOfPair(pair);
    const until = clock.now() + row.waitTime();
    for (let pause = shortestRead; ; pause = Math.min(2 * pause, longestRead)) {
      const entry = await entries.read(key);
      if (typeof entry === "object" && !this.#mayRetry(entry)) return { entry, created: false };
      if (entry !== "leased") {
        const reservation = await tokens.reserve(cost, row);
        if (entry !== undefined) await entries.forget(key, entry);
        const lease = await entries.lease(key, leaseTime);
        if (lease !== undefined) return this.#create(pair, cost, row, { reservation, lease, failed: entry });
        reservation.settle(0);
      }
      if (clock.now() >= until) throw new DeadlineError({ message: `Another process did not finish ${key} in time.` });
      onWait();
      await waits.sleep(row.left, pause);
    }
  }

  /** Whether a failed render is created again. One that was created during this run is not: each creation deducts tokens. */
  #mayRetry({ render, created }: RenderEntry): boolean {
    return this.#parts.retryFailed && render?.status === "failed" && created < this.#began;
  }

  async #create(
    pair: RenderInput,
    cost: number,
    row: RowWork,
    { reservation, lease, failed }: Right,
  ): Promise<ObtainedRender> {
    const { calls, clock, entries, tokens, waits, onCreated } = this.#parts;
    const key = keyOfPair(pair);
    const stopRenewing = lease === "lost" ? () => undefined : keepLease(lease, leaseTime, clock);
    let used = 0;
    let refusal: RendertokenLimitError | undefined;
    try {
      waits.check(row.left);
      const { reference } = await calls.create(pair, this.#within(row, reservation), (count) => {
        used = count;
      });
      // The same pair has the same render, which stays failed.
      const render = reference === failed?.reference ? failed.render : undefined;
      const entry: RenderEntry = { version: 1, reference, created: clock.now(), ...(render && { render }) };
      await entries.write(key, entry);
      return { entry, created: true };
    } catch (error) {
      if (error instanceof RendertokenLimitError) refusal = error;
      if (failed !== undefined) await entries.write(key, failed);
      else if (lease !== "lost") await lease.release();
      throw error;
    } finally {
      stopRenewing();
      reservation.settle(used);
      if (refusal !== undefined) tokens.refused(cost, refusal);
      onCreated();
    }
  }

  /** The options of a creation whose retries the budget covers. */
  #within(row: RowWork, { attempts }: Reservation) {
    const options = row.creating();
    return { ...options, retry: { ...options.retry, retries: attempts - 1 } };
  }
}
