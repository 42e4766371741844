import { Buffer } from "node:buffer";
import { closeSync, existsSync, linkSync, openSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { shorten } from "../errors/base.ts";
import { refuse } from "../storage/contract.ts";
import { attempt } from "../util/foreign.ts";
import { webCrypto } from "../util/runtime.ts";

/** The path of a storage in memory. */
const memory = ":memory:";

/** Maximum bytes of a path and of the file name. SQLite opens no longer path, and the files beside the database have longer names. */
const limits = { path: 500, name: 240 };

/** The file of a storage. */
export class StorageFile {
  /** The absolute path, so that a later change of the working directory has no effect. */
  readonly path: string;

  /** @throws `ConfigurationError` if the path cannot be that of a file. */
  constructor(path: string) {
    if (typeof path !== "string" || path === "") refuse(["path"], "expected the path of a file");
    this.path = path === memory ? path : resolve(path);
    if (path === memory) return;
    if (path.includes("\0")) refuse(["path"], "contains a null character");
    const sizes = { path: Buffer.byteLength(this.path), name: Buffer.byteLength(basename(this.path)) };
    if (sizes.path > limits.path || sizes.name > limits.name) {
      refuse(["path"], `${shorten(path)} is too long: SQLite takes ${limits.path} bytes, and a name of ${limits.name}`);
    }
    const folder = dirname(this.path);
    if (!attempt(() => statSync(folder))?.isDirectory()) {
      refuse(["path"], `there is no folder ${folder}; create it first`);
    }
    if (attempt(() => statSync(this.path))?.isDirectory()) {
      refuse(["path"], `${this.path} is a folder; expected the path of a file`);
    }
  }

  /** Changes when another file replaces this one. Always undefined in memory. */
  get identity(): string | undefined {
    const stats = attempt(() => statSync(this.path, { bigint: true }));
    return stats && `${stats.dev}:${stats.ino}`;
  }

  /** Creates an empty file that only its owner can read, unless it exists. */
  create(): void {
    if (this.path !== memory) createPrivately(this.path);
  }
}

/**
 * Creates the file under another name and then links it: when a process closes any handle of a file, the operating system drops all locks of
 * the process on that file, including those of SQLite.
 */
function createPrivately(path: string): void {
  if (existsSync(path)) return;
  const draft = join(dirname(path), `.${webCrypto().randomUUID()}`);
  // If this fails, another process was first, or SQLite creates the file or reports the reason.
  attempt(() => {
    closeSync(openSync(draft, "wx", 0o600));
    linkSync(draft, path);
  });
  rmSync(draft, { force: true });
}
