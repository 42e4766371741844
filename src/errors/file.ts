import { textOf, wordsOf } from "../util/foreign.ts";
import { PodPartnerError, shorten } from "./base.ts";

/** Hints for an error of the file system, by its code. */
const hints: Readonly<Record<string, string>> = {
  ENOENT: "Check the path: a folder of it does not exist, and cannot be created.",
  EACCES: "The process may not write there: check the permissions of the file and its folder.",
  EPERM: "The process may not write there: check the permissions of the file and its folder.",
  EROFS: "The file system can only be read: use another folder.",
  EISDIR: "It is a folder: add the name of the file.",
  EEXIST: "A part of the path is a file, not a folder: use another path.",
  ENOTDIR: "A part of the path is a file, not a folder: use another path.",
  ELOOP: "Its symbolic links lead back to themselves: use another path.",
  ENOSPC: "The disk is full: free some space.",
  EDQUOT: "The quota of the disk is used up: free some space.",
  EFBIG: "The file is larger than the system allows: raise its limit (`ulimit -f`).",
  EMFILE: "The process has too many open files: open fewer at once, or raise its limit (`ulimit -n`).",
  ENFILE: "The system has too many open files: close some.",
  ETXTBSY: "It is a program that runs: use another path.",
  ENAMETOOLONG: "The name is too long: use a shorter one.",
  ENXIO: "It is a socket: write the `stream()` of the download into it, for example into `process.stdout`.",
  EPIPE: "Save it again: the process that read the pipe has closed it.",
};

/**
 * A download could not be written to a file, for example because the disk is full or a folder is read-only. The response itself was valid.
 * `code` is the code of the file system, and `cause` its error.
 */
export class FileError extends PodPartnerError {
  static override readonly kind: string = "FileError";
  readonly isRetryable = false;
  /** The code of the file system, for example `ENOSPC`; undefined without one. */
  override readonly code: string | undefined;
  override readonly hint: string | undefined;
  /** The path that was to be written. */
  readonly path: string;

  constructor({ path, cause }: { path: string; cause: unknown }) {
    const code = textOf(cause, "code");
    const hint = code !== undefined && Object.hasOwn(hints, code) ? hints[code] : undefined;
    const message = `The download was not saved to ${JSON.stringify(shorten(path))}: ${wordsOf(cause)}.`;
    super(hint === undefined ? message : `${message}\n  ${hint}`, { cause });
    this.code = code;
    this.hint = hint;
    this.path = path;
  }

  override toJSON() {
    return { ...super.toJSON(), path: this.path };
  }
}
