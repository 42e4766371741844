import { wordsOf } from "../util/foreign.ts";
import { PodPartnerError, shorten } from "./base.ts";

/**
 * The client's `storage` could not be reached, so the call could have paid twice. Nothing was sent.
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
 * The file of a `sqliteStorage` is damaged, for example after a fault of the disk. The SDK does not change the file: its content may be
 * recoverable, and with an empty storage everything would be paid for again. `cause` is the error of SQLite.
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
