import { keepProcess, type PartnerClock } from "../util/clock.ts";
import { wordsOf } from "../util/foreign.ts";
import { withTimeout } from "../util/with-timeout.ts";
import type { KeyValueStorage, StorageExpectation, StorageSetOptions } from "./contract.ts";
import { type Lock, type LockOptions, lockTime, takeLock } from "./lock.ts";
import { memoryStorage } from "./memory.ts";
import { ScopedStorage } from "./scoped-storage.ts";

/** An operation has not ended in time. */
class NoResultError extends Error {
  constructor(ms: number) {
    super(`no result within ${ms} ms`);
  }
}

/** The storage counts as lost when an operation has waited for this many milliseconds while no other operation succeeded. */
const silentTime = 1_000;
/** Maximum milliseconds of an operation while others succeed: it may wait for a connection that they use. */
const operationTime = 5_000;
/** Lifetime of the value that a health check writes, in milliseconds. */
const checkedFor = 60_000;
/** Milliseconds between two attempts to reach a lost storage. */
const tryEvery = 1_000;

/** Called when the storage is lost, and when it is back. */
export interface StorageReports {
  readonly onLost: (reason: string) => void;
  readonly onBack: () => void;
}

/** A change that was made while the storage was lost. */
interface Kept {
  /** Undefined if the value was deleted. */
  readonly value: Uint8Array | undefined;
  readonly options: StorageSetOptions;
}

/** The health of a client's storage. */
export interface StorageHealth {
  /** What keeps the bytes, for example `postgres`; `none` without the option `storage`, when no other process knows the orders. */
  readonly kind: string;
  /**
   * `lost` after an operation has failed, until one succeeds. Otherwise `ready`, also before the first operation. Reading it while it is
   * `lost` tries the storage again, at most once a second.
   */
  readonly state: "ready" | "lost";
  /**
   * Writes a small value to the storage and resolves to its state. A full or read-only storage is `lost`, too. Takes at most a second and never
   * rejects, so a health check can use it.
   *
   * @example
   * const isHealthy = (await partner.storage.check()) === "ready";
   */
  check(): Promise<"ready" | "lost">;
}

const unlessLost = <T>(result: T | "lost"): T | undefined => (result === "lost" ? undefined : result);

/** Opens the storage of a client at the first call, and resolves to the same storage after that. */
export type OpenStorage = () => Promise<ClientStorage>;

/** What opening the storage of a client needs. */
export interface StorageSettings {
  /** Undefined if the client remembers in its own memory until it ends. */
  readonly storage: KeyValueStorage | undefined;
  readonly scopeOf: (storage: KeyValueStorage) => Promise<string>;
  readonly clock: PartnerClock;
  readonly reports: StorageReports;
}

/** Opens the part of the storage that belongs to the client's organization. Its own memory has only one part. */
export async function openStorage({ storage, scopeOf, clock, reports }: StorageSettings): Promise<ClientStorage> {
  const part = storage === undefined ? memoryStorage({ clock }) : new ScopedStorage(storage, await scopeOf(storage));
  return new ClientStorage(part, clock, reports);
}

/**
 * The storage as the calls of a client use it. It never rejects and is never slow. While the storage is lost, a read finds nothing and a change
 * resolves to undefined. After a change that failed at once, such as in a full storage, only changes are lost: reads still work, so that
 * nothing is paid for twice. Once in `tryEvery`, an operation tries whether the storage is back. The first failure and the first success after
 * it are reported.
 */
export class ClientStorage {
  readonly #storage: KeyValueStorage;
  readonly #clock: PartnerClock;
  readonly #reports: StorageReports;
  /** The changes of {@link ClientStorage.keep} that a lost storage did not take, by key. They are written when it is back. */
  readonly #kept = new Map<string, Kept>();
  #lost: "changes" | "all" | undefined;
  #tryAt = 0;
  /** The numbers of failed and successful operations. */
  #failures = 0;
  #successes = 0;
  #lostBy: unknown;
  #isWriteDue = false;

  constructor(storage: KeyValueStorage, clock: PartnerClock, reports: StorageReports) {
    this.#storage = storage;
    this.#clock = clock;
    this.#reports = reports;
  }

  /** Writes to the storage, unless it failed a moment ago. Resolves to false while it is lost, even if only changes are. */
  async check(): Promise<boolean> {
    return (await this.set("health", Uint8Array.of(1), { ttl: checkedFor })) !== undefined;
  }

  /** The latest error by which the storage was lost. */
  get lostBy(): unknown {
    return this.#lostBy;
  }

  /** Resolves to the bytes of a key; undefined if it has none, or while the storage is lost. */
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

  /** Sets a value that must not be lost, or deletes it (undefined). A change that a lost storage does not take stays in memory until it does. */
  async keep(key: string, value: Uint8Array | undefined, options: StorageSetOptions = {}): Promise<void> {
    const kept = { value, options };
    this.#kept.set(key, kept);
    if (!(await this.#write(key, kept))) this.#writeLater();
  }

  /** Resolves to the bytes of a key that {@link ClientStorage.keep} sets; "lost" while they are not known. */
  async find(key: string): Promise<Uint8Array | "lost" | undefined> {
    const kept = this.#kept.get(key);
    if (kept === undefined) return this.#try(() => this.#storage.get(key));
    await this.#write(key, kept);
    return kept.value;
  }

  /** Takes the lock of a key like {@link takeLock}, for {@link lockTime} milliseconds. */
  lock(key: string, options?: LockOptions): Promise<Lock | "lost" | undefined> {
    return takeLock(this, key, lockTime, this.#clock, options);
  }

  /** Writes a kept change. Resolves to true if the storage took it. */
  async #write(key: string, kept: Kept): Promise<boolean> {
    const { value, options } = kept;
    const writing = value === undefined ? this.delete(key, options) : this.set(key, value, options);
    // Also done if the key did not hold the expected value: a later attempt would not change it, either.
    const done = (await writing) !== undefined;
    // A later change of the same key stays.
    if (done && this.#kept.get(key) === kept) this.#kept.delete(key);
    return done;
  }

  /** Writes the kept changes until the storage is lost again. */
  async #writeKept(): Promise<void> {
    for (const [key, kept] of this.#kept) {
      if (!(await this.#write(key, kept))) return;
    }
  }

  /** Tries to write the kept changes until the storage has taken them: this client may make no other call. Does not keep the process alive. */
  #writeLater(): void {
    if (this.#isWriteDue) return;
    this.#isWriteDue = true;
    const stop = this.#clock.after(tryEvery, async () => {
      await this.#writeKept();
      this.#isWriteDue = false;
      if (this.#kept.size > 0) this.#writeLater();
    });
    keepProcess(stop, false);
  }

  /** Tries an operation. Resolves to "lost" while the storage is lost. `scope` is what its failure shows to be lost. */
  async #try<T>(work: () => Promise<T>, scope: "changes" | "all" = "all"): Promise<T | "lost"> {
    const began = this.#clock.now();
    const lost = this.#lost === "all" || this.#lost === scope;
    if (lost && began < this.#tryAt) return "lost";
    if (lost) this.#tryAt = began + tryEvery;
    const failures = this.#failures;
    try {
      const result = await this.#inTime(work);
      this.#successes += 1;
      // The success of an operation that began before the latest failure does not count.
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
      // After a timeout, reads and changes both count as lost: trying the other kind could take as long.
      if (this.#lost !== "all") this.#lost = error instanceof NoResultError ? "all" : scope;
      if (!reported) this.#reports.onLost(wordsOf(error));
      return "lost";
    }
  }

  async #inTime<T>(work: () => Promise<T>): Promise<T> {
    const until = this.#clock.now() + operationTime;
    // The caller's storage may throw synchronously, or return a value that is no promise.
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
