import { DamagedStorageError } from "../errors/storage.ts";
import { type PartnerClock, systemClock } from "../util/clock.ts";
import { Database, faultOf, type SqliteModule } from "./database.ts";
import type { StorageFile } from "./file.ts";

/** Maximum milliseconds that an operation waits for the locks of other processes. */
const maxWait = 10_000;
/** The longest pause between two attempts, in milliseconds. */
const maxPause = 50;
/** Milliseconds between two checks whether the file was replaced. */
const checkEvery = 1_000;
/** Milliseconds of work after which other tasks of the process get a turn. */
const maxTurn = 10;

/** Gives other tasks of the process a turn. Not the global `setImmediate`: fake timers of a test runner would stop the storage. */
const nextTurn = (): Promise<void> => process.getBuiltinModule("node:timers/promises").setImmediate();

/**
 * Runs operations on a file one after the other. Waits for the locks of other processes without blocking the event loop, and reopens the file
 * after an error or when it was replaced.
 */
export class SqliteConnection {
  readonly #sqlite: SqliteModule;
  readonly #file: StorageFile;
  readonly #clock: PartnerClock;
  #database: Database | undefined;
  #identity: string | undefined;
  #checkedAt = 0;
  /** Milliseconds of work since other tasks last had a turn. */
  #worked = 0;
  #closed = false;
  #latest: Promise<unknown> = Promise.resolve();

  constructor(sqlite: SqliteModule, file: StorageFile, clock: PartnerClock) {
    this.#sqlite = sqlite;
    this.#file = file;
    this.#clock = clock;
  }

  run<Result>(work: (database: Database) => Result): Promise<Result> {
    const deadline = this.#clock.now() + maxWait;
    const result = this.#latest.then(() => this.#attempts(work, deadline));
    this.#latest = result.catch(() => undefined);
    return result;
  }

  /** Closes the file after the earlier operations. */
  async close(): Promise<void> {
    await this.#latest;
    this.#closed = true;
    this.#drop();
  }

  async #attempts<Result>(work: (database: Database) => Result, deadline: number): Promise<Result> {
    // Counts only the work of the storage itself: in a busy process, each operation would otherwise wait for a turn.
    if (this.#worked > maxTurn) {
      await nextTurn();
      this.#worked = 0;
    }
    for (let pause = 1; ; pause = Math.min(pause * 2, maxPause)) {
      try {
        return this.#once(work);
      } catch (error) {
        const fault = faultOf(error);
        if (fault === "broken" || fault === "damaged") this.#drop();
        if (fault === "damaged") throw new DamagedStorageError({ path: this.#file.path, cause: error });
        if (fault !== "busy") throw error;
        if (this.#clock.now() > deadline) {
          throw new Error(`another process locks the file ${this.#file.path} for more than ${maxWait} ms`);
        }
        const wait = pause * (0.5 + Math.random() / 2);
        await new Promise<void>((resolve) => void this.#clock.after(wait, resolve));
      }
    }
  }

  #once<Result>(work: (database: Database) => Result): Result {
    // The clock of a test may stand still.
    const began = systemClock.now();
    try {
      return work(this.#open());
    } finally {
      this.#worked += systemClock.now() - began;
    }
  }

  #open(): Database {
    if (this.#closed) throw new Error("the storage is closed");
    const now = this.#clock.now();
    if (this.#database !== undefined && now - this.#checkedAt > checkEvery) {
      this.#checkedAt = now;
      if (this.#file.identity !== this.#identity) this.#drop();
    }
    if (this.#database === undefined) {
      this.#file.create();
      this.#database = new Database(this.#sqlite, this.#file.path, this.#clock);
      this.#identity = this.#file.identity;
      this.#checkedAt = now;
    }
    return this.#database;
  }

  #drop(): void {
    this.#database?.close();
    this.#database = undefined;
  }
}
