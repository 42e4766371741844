import type { DatabaseSync, StatementSync } from "node:sqlite";
import { refuse } from "../storage/contract.ts";
import { dateOf, type PartnerClock } from "../util/clock.ts";
import { propertyOf } from "../util/foreign.ts";

/** Marks the files of this package: "podp". */
const applicationId = 0x706f6470;
/** The version of the tables. A later version gets the next number. */
const schemaVersion = 1;

/** Milliseconds that SQLite itself waits for a lock. This blocks the event loop, so a longer wait is a new attempt after a pause. */
const lockWait = 15;

/**
 * Bytes of a page in a new file. Large values are written in two thirds of the time that SQLite's default, 4096, takes. Small values take a
 * little longer, because each change writes whole pages.
 */
const pageSize = 16_384;

/** Keys in one page of `keys`, and expired values that one sweep deletes. */
const page = 500;
const swept = 64;

export type SqliteModule = typeof import("node:sqlite");

const tables = [
  "CREATE TABLE entries (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, until INTEGER, value BLOB NOT NULL) STRICT",
  "CREATE INDEX entries_until ON entries (until) WHERE until IS NOT NULL",
  `PRAGMA application_id = ${applicationId}`,
  `PRAGMA user_version = ${schemaVersion}`,
];

/** `node:sqlite` binds empty bytes as NULL. */
const [value, expected] = ["ifnull(:value, x'')", "ifnull(:expected, x'')"];
const alive = "(until IS NULL OR until > :now)";
const upsert = `INSERT INTO entries (key, until, value) VALUES (:key, :until, ${value})
  ON CONFLICT (key) DO UPDATE SET until = excluded.until, value = excluded.value`;
const sql = {
  get: `SELECT value FROM entries WHERE key = :key AND ${alive}`,
  set: upsert,
  add: `${upsert} WHERE entries.until <= :now`,
  swap: `UPDATE entries SET until = :until, value = ${value} WHERE key = :key AND value = ${expected} AND ${alive}`,
  delete: `DELETE FROM entries WHERE key = :key AND ${alive}`,
  deleteHeld: `DELETE FROM entries WHERE key = :key AND value = ${expected} AND ${alive}`,
  keys: `SELECT key FROM entries WHERE key >= :from AND key < :to AND ${alive} ORDER BY key LIMIT ${page}`,
  sweep: `DELETE FROM entries WHERE id IN (SELECT id FROM entries WHERE until <= :now ORDER BY until LIMIT ${swept})`,
};

/** The table of values in an open file. Each change is one statement, and so a transaction. */
export class Database {
  readonly #file: DatabaseSync;
  readonly #clock: PartnerClock;
  readonly #statements = new Map<keyof typeof sql, StatementSync>();

  /** Opens a file, and creates its tables if it is empty. Throws an error of SQLite if the file is locked or damaged. */
  constructor({ DatabaseSync }: SqliteModule, location: string, clock: PartnerClock) {
    this.#file = new DatabaseSync(location);
    this.#clock = clock;
    try {
      this.#setUp();
    } catch (error) {
      this.#file.close();
      throw error;
    }
  }

  get(key: string): Uint8Array | undefined {
    const row = this.#prepared("get").get({ key, now: this.#now() });
    return ArrayBuffer.isView(row?.value) ? row.value : undefined;
  }

  set(key: string, value: Uint8Array, lifetime: number | undefined, expected: Uint8Array | null | undefined): boolean {
    const now = this.#now();
    const row = { key, value, until: lifetime === undefined ? null : now + lifetime };
    if (expected === undefined) return this.#change("set", row);
    return expected === null ? this.#change("add", { ...row, now }) : this.#change("swap", { ...row, now, expected });
  }

  delete(key: string, expected: Uint8Array | null | undefined): boolean {
    const row = { key, now: this.#now() };
    if (expected === undefined) return this.#change("delete", row);
    return expected !== null && this.#change("deleteHeld", { ...row, expected });
  }

  /** Returns the next page of keys with a prefix, in ascending order, after the key `after`. */
  keys(prefix: string, after: string | undefined): { readonly keys: readonly string[]; readonly last: boolean } {
    // No key contains the last character of Unicode. A key with a null character added is the next possible key.
    const range = { from: after === undefined ? prefix : `${after}\u0000`, to: `${prefix}\u{10ffff}` };
    const rows = this.#prepared("keys").all({ ...range, now: this.#now() });
    return { keys: rows.map(({ key }) => String(key)), last: rows.length < page };
  }

  /** Deletes some expired values. */
  sweep(): void {
    this.#change("sweep", { now: this.#now() });
  }

  /** Whole milliseconds, for a column of integers. */
  #now(): number {
    return Math.floor(dateOf(this.#clock));
  }

  close(): void {
    this.#file.close();
  }

  #change(name: keyof typeof sql, row: Parameters<StatementSync["run"]>[0]): boolean {
    return Number(this.#prepared(name).run(row).changes) > 0;
  }

  #prepared(name: keyof typeof sql): StatementSync {
    let statement = this.#statements.get(name);
    if (statement === undefined) {
      statement = this.#file.prepare(sql[name]);
      this.#statements.set(name, statement);
    }
    return statement;
  }

  /** Runs one statement, and returns the first column of the first row. `exec` of Deno throws errors without a code. */
  #run(statement: string): unknown {
    return Object.values(this.#file.prepare(statement).get() ?? {})[0];
  }

  #setUp(): void {
    this.#run(`PRAGMA busy_timeout = ${lockWait}`);
    // It has no effect on a file with tables.
    this.#run(`PRAGMA page_size = ${pageSize}`);
    this.#run("BEGIN IMMEDIATE");
    const [id, version] = [this.#run("PRAGMA application_id"), this.#run("PRAGMA user_version")];
    const empty = this.#run("SELECT 1 FROM sqlite_schema LIMIT 1") === undefined;
    if (id !== applicationId && !(id === 0 && version === 0 && empty)) {
      refuse(["path"], "is the database of another program; expected a path without a file, or the file of a storage");
    }
    if (Number(version) > schemaVersion) {
      throw new Error(`a newer version of pod-partner wrote the file: its tables have version ${version}`);
    }
    if (empty) for (const statement of tables) this.#run(statement);
    this.#run("COMMIT");
    // A file system without shared memory has no WAL. There, `synchronous` must keep its default, or the file could be damaged.
    if (this.#run("PRAGMA journal_mode = WAL") === "wal") this.#run("PRAGMA synchronous = NORMAL");
  }
}

/** What an error of SQLite means for the connection. */
export type DatabaseFault =
  /** Another process has the lock: try again. */
  | "busy"
  /** The file, or a part of it, is not what SQLite wrote. */
  | "damaged"
  /** The change is impossible; the connection still works. */
  | "refused"
  /** Anything else, such as a lost disk: the file is reopened. */
  | "broken";

/** By the primary result codes of SQLite. */
const faults = new Map<number, DatabaseFault>([
  [5, "busy"], // SQLITE_BUSY
  [6, "busy"], // SQLITE_LOCKED
  [15, "busy"], // SQLITE_PROTOCOL
  [11, "damaged"], // SQLITE_CORRUPT
  [26, "damaged"], // SQLITE_NOTADB
  [13, "refused"], // SQLITE_FULL
  [18, "refused"], // SQLITE_TOOBIG
  [19, "refused"], // SQLITE_CONSTRAINT
]);

/** Reads an error of `node:sqlite`. The low byte of its extended code is the primary code. */
export function faultOf(error: unknown): DatabaseFault {
  const code = propertyOf(error, "errcode");
  return (typeof code === "number" ? faults.get(code & 0xff) : undefined) ?? "broken";
}
