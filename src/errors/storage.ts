import { wordsOf } from "../util/foreign.ts";
import { PodPartnerError, shorten } from "./base.ts";

/**
 * The client's `storage` could not be reached, so it is not known whether the call would pay twice. Nothing was sent.
 */
export class StorageError extends PodPartnerError {
  static override readonly kind: string = "StorageError";
  readonly isRetryable = true;
  override readonly hint =
    "Repeat the call later: it tries the storage again. `await partner.storage.check()` says whether it can be reached.";

  constructor({ message }: { message: string }) {
    super(`${message} Nothing was sent.`);
  }
}

/**
 * The file of a `sqliteStorage` is not what SQLite wrote, for example after a fault of the disk. The file was not changed: what it remembers
 * may still be read from it, and a storage that begins empty would pay again for everything. `cause` is the error of SQLite.
 */
export class DamagedStorageError extends PodPartnerError {
  static override readonly kind: string = "DamagedStorageError";
  readonly isRetryable = false;
  override readonly hint =
    "Move the file and those beside it (`-wal`, `-shm`) away, and restore a copy, or what `sqlite3 FILE .recover` reads. Without a file, the storage begins empty.";
  /** The path of the file. */
  readonly path: string;

  constructor({ path, cause }: { path: string; cause: unknown }) {
    super(`The file ${JSON.stringify(shorten(path))} of the storage is damaged: ${wordsOf(cause)}.`, { cause });
    this.path = path;
  }

  override toJSON() {
    return { ...super.toJSON(), path: this.path };
  }
}
