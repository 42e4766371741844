import type { PartnerClock } from "../util/clock.ts";
import { wordsOf } from "../util/foreign.ts";
import { withTimeout } from "../util/with-timeout.ts";
import type { KeyValueStorage, StorageExpectation, StorageSetOptions } from "./contract.ts";
import { type Lock, type LockOptions, lockTime, takeLock } from "./lock.ts";
import { memoryStorage } from "./memory.ts";
import { ScopedStorage } from "./scoped-storage.ts";

/** An operation gave no result in its time. */
class NoResultError extends Error {
  constructor(ms: number) {
    super(`no result within ${ms} ms`);
  }
}

/** A storage is lost when an operation has waited for this many milliseconds, and none has succeeded in this time. */
const silentTime = 1_000;
/** Milliseconds that one operation may take while others succeed: it may wait for a connection that they use. */
const operationTime = 5_000;
/** Milliseconds for which the value of a health check stays. */
const checkedFor = 60_000;
/** Milliseconds between two tries of a storage that is lost. */
const tryEvery = 1_000;

/** Who hears that a storage is lost or back. */
export interface StorageReports {
  readonly onLost: (reason: string) => void;
  readonly onBack: () => void;
}

/** What was changed while the storage was lost. */
interface Kept {
  /** Undefined if the value was deleted. */
  readonly value: Uint8Array | undefined;
  readonly options: StorageSetOptions;
}

/** The health of a client's storage. */
export interface StorageHealth {
  /** What keeps the bytes, for example `postgres`; `none` without the option `storage`: then no other process knows the orders. */
  readonly kind: string;
  /**
   * `lost` from an operation that failed to the next one that succeeds. It says what the latest calls have found: `ready` also before the first
   * one. Reading it while it is `lost` tries the storage again, at most once a second.
   */
  readonly state: "ready" | "lost";
  /**
   * Writes a small value to the storage now, and resolves to its state: `lost` also for a storage that is full or read-only. It takes at most a
   * second and never rejects: for the health check of a process.
   *
   * @example
   * const isHealthy = (await partner.storage.check()) === "ready";
   */
  check(): Promise<"ready" | "lost">;
}

const unlessLost = <T>(result: T | "lost"): T | undefined => (result === "lost" ? undefined : result);

/** Opens the storage of a client. It is opened at the first use. */
export type OpenStorage = () => Promise<ClientStorage>;

/** What a client knows of its storage. */
export interface StorageSettings {
  /** Undefined: the client remembers in a memory of its own, until it ends. */
  readonly storage: KeyValueStorage | undefined;
  readonly scopeOf: (storage: KeyValueStorage) => Promise<string>;
  readonly clock: PartnerClock;
  readonly reports: StorageReports;
}

/** Opens the client's part of its storage. A memory of its own has no other parts. */
export async function openStorage({ storage, scopeOf, clock, reports }: StorageSettings): Promise<ClientStorage> {
  const part = storage === undefined ? memoryStorage({ clock }) : new ScopedStorage(storage, await scopeOf(storage));
  return new ClientStorage(part, clock, reports);
}

/**
 * The storage as the calls of a client use it. It never fails and is never slow: while the storage cannot be reached, it holds nothing, and
 * a change resolves to undefined. A full storage still gives what it holds, so that nothing is paid for twice: after a change that failed at
 * once, only the changes are lost. One operation at a time tries whether the storage is back. The first failure and the first success after
 * it are reported.
 */
export class ClientStorage {
  readonly #storage: KeyValueStorage;
  readonly #clock: PartnerClock;
  readonly #reports: StorageReports;
  /** What was changed by {@link ClientStorage.keep} while the storage was lost, by key. It is written when the storage is back. */
  readonly #kept = new Map<string, Kept>();
  #lost: "changes" | "all" | undefined;
  #tryAt = 0;
  /** How many operations failed, and succeeded. */
  #failures = 0;
  #successes = 0;
  #lostBy: unknown;

  constructor(storage: KeyValueStorage, clock: PartnerClock, reports: StorageReports) {
    this.#storage = storage;
    this.#clock = clock;
    this.#reports = reports;
  }

  /** Writes to the storage, unless it was tried a moment ago. Resolves to false while it is lost, also if it only refuses changes. */
  async check(): Promise<boolean> {
    return (await this.set("health", Uint8Array.of(1), { ttl: checkedFor })) !== undefined;
  }

  /** The latest error by which the storage was lost. */
  get lostBy(): unknown {
    return this.#lostBy;
  }

  /** Resolves to the bytes of a key; undefined if it holds none, and while the storage is lost. */
  async get(key: string): Promise<Uint8Array | undefined> {
    return unlessLost(await this.#try(() => this.#storage.get(key)));
  }

  /** Like {@link KeyValueStorage.set}. Resolves to undefined while the storage is lost. */
  async set(key: string, value: Uint8Array, options?: StorageSetOptions): Promise<boolean | undefined> {
    return unlessLost(await this.#try(() => this.#storage.set(key, value, options), "changes"));
  }

  /** Like {@link KeyValueStorage.delete}. Resolves to undefined while the storage is lost. */
  async delete(key: string, options?: StorageExpectation): Promise<boolean | undefined> {
    return unlessLost(await this.#try(() => this.#storage.delete(key, options), "changes"));
  }

  /** Sets what was paid for, or deletes it. What the storage does not take now stays in memory until it does. */
  async keep(key: string, value: Uint8Array | undefined, options: StorageSetOptions = {}): Promise<void> {
    const kept = { value, options };
    this.#kept.set(key, kept);
    await this.#write(key, kept);
  }

  /** Resolves to the bytes of a key that {@link ClientStorage.keep} sets, and to "lost" while it is not known what it holds. */
  async find(key: string): Promise<Uint8Array | "lost" | undefined> {
    const kept = this.#kept.get(key);
    if (kept === undefined) return this.#try(() => this.#storage.get(key));
    await this.#write(key, kept);
    return kept.value;
  }

  /**
   * Takes the lock of a key, which is free {@link lockTime} milliseconds after its holder has died. Resolves to undefined if another holder
   * has it, and to "lost" while the storage is lost, because it is not known then.
   */
  lock(key: string, options?: LockOptions): Promise<Lock | "lost" | undefined> {
    return takeLock(this, key, lockTime, this.#clock, options);
  }

  /** Writes a value that was kept. Resolves to whether the storage has it. */
  async #write(key: string, kept: Kept): Promise<boolean> {
    const { value, options } = kept;
    const writing = value === undefined ? this.delete(key, options) : this.set(key, value, options);
    // A value that is not what was expected is not changed, now and later.
    const done = (await writing) !== undefined;
    // It can have been kept with another value since.
    if (done && this.#kept.get(key) === kept) this.#kept.delete(key);
    return done;
  }

  /** Writes what was kept, until the storage is lost again. */
  async #writeKept(): Promise<void> {
    for (const [key, kept] of this.#kept) {
      if (!(await this.#write(key, kept))) return;
    }
  }

  /** Tries an operation. Resolves to "lost" while the storage is lost. `scope` says what its failure shows to be lost. */
  async #try<T>(work: () => Promise<T>, scope: "changes" | "all" = "all"): Promise<T | "lost"> {
    const began = this.#clock.now();
    const lost = this.#lost === "all" || this.#lost === scope;
    if (lost && began < this.#tryAt) return "lost";
    if (lost) this.#tryAt = began + tryEvery;
    const failures = this.#failures;
    try {
      const result = await this.#inTime(work);
      this.#successes += 1;
      // The success of an operation that began before a failure does not count.
      if (lost && this.#lost !== undefined && failures === this.#failures) {
        this.#lost = undefined;
        this.#reports.onBack();
        void this.#writeKept();
      }
      return result;
    } catch (error) {
      this.#failures += 1;
      this.#lostBy = error;
      this.#tryAt = this.#clock.now() + tryEvery;
      const reported = this.#lost !== undefined;
      // After an operation without a result, trying the other kind would cost as much time.
      if (this.#lost !== "all") this.#lost = error instanceof NoResultError ? "all" : scope;
      if (!reported) this.#reports.onLost(wordsOf(error));
      return "lost";
    }
  }

  async #inTime<T>(work: () => Promise<T>): Promise<T> {
    const until = this.#clock.now() + operationTime;
    // A storage of the caller may throw, or return a value that is no promise.
    const result = (async () => work())();
    for (let ms = silentTime; ; ms += silentTime) {
      const before = this.#successes;
      try {
        return await withTimeout(
          this.#clock,
          silentTime,
          () => new NoResultError(ms),
          () => result,
        );
      } catch (error) {
        const isWaiting = error instanceof NoResultError && this.#successes > before && this.#clock.now() < until;
        if (!isWaiting) throw error;
      }
    }
  }
}
