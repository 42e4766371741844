import type { Download } from "../../binary/download.ts";
import type { Body } from "../transport.ts";
import { type Entries, type Entry, pieceSize, piecesOf } from "./entry.ts";
import type { FilePolicy } from "./policy.ts";

/** Downloads a file again; undefined if the service has another version by now. */
export type DownloadAgain = () => Promise<Download | undefined>;

const lost = "a part of the cached file was lost, and the service may have another version now; download it again";

/**
 * The bytes of a stored file, piece by piece. When a piece is missing or damaged, the rest comes from the service: the file is downloaded
 * again, and the bytes that were already read are skipped.
 */
export class StoredBody implements Body {
  readonly #entries: Entries;
  readonly #entry: Entry;
  readonly #again: DownloadAgain;
  #first: Uint8Array | undefined;
  #index = 0;
  #given = 0;
  #rest: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #closed = false;

  constructor(entries: Entries, entry: Entry, again: DownloadAgain) {
    this.#entries = entries;
    this.#entry = entry;
    this.#again = again;
    this.#first = entry.first;
  }

  async next(): Promise<Uint8Array | undefined> {
    if (this.#rest !== undefined) return this.#counted((await this.#rest.read()).value);
    const { id, head } = this.#entry;
    if (this.#index === piecesOf(head.size)) return undefined;
    const piece = this.#first ?? (await this.#entries.piece(id, head, this.#index));
    this.#first = undefined;
    if (piece === undefined) return this.#continue();
    this.#index += 1;
    return this.#counted(piece);
  }

  close(): void {
    this.#closed = true;
    this.#rest?.cancel().catch(() => undefined);
  }

  /** Takes the rest of the file from the service. Returns its first bytes. */
  async #continue(): Promise<Uint8Array | undefined> {
    await this.#entries.drop(this.#entry);
    const download = await this.#again();
    if (download === undefined) throw new Error(lost);
    const reader = download.stream().getReader();
    this.#rest = reader;
    if (this.#closed) this.close();
    for (let skip = this.#given; ; ) {
      const { value } = await reader.read();
      if (value === undefined || value.byteLength > skip) return this.#counted(value?.subarray(skip));
      skip -= value.byteLength;
    }
  }

  /** Counts bytes. A body whose length is not that of the stored file is of another version, also with the same `ETag`. */
  #counted(bytes: Uint8Array | undefined): Uint8Array | undefined {
    this.#given += bytes?.byteLength ?? 0;
    const { size } = this.#entry.head;
    if (this.#given > size || (bytes === undefined && this.#given < size)) throw new Error(lost);
    return bytes;
  }
}

/** What a recording is about. */
interface Recorded {
  readonly id: string;
  readonly policy: FilePolicy;
  /** The `Content-Length`; undefined without one. */
  readonly size: number | undefined;
  /** The largest file that is stored, in bytes. */
  readonly maxSize: number;
  /** Milliseconds that a download waits for the storage in all, before the rest of the file is not stored. */
  readonly patience: number;
  readonly now: () => number;
  /** Called with the bytes of a file that is stored. */
  readonly onStored: (size: number) => void;
}

/**
 * Stores a file while the caller reads it. It holds two pieces in memory: one that fills, one that is being written. A file that cannot
 * be stored is given up without an effect on the download, and its pieces are deleted.
 */
export class Recording {
  readonly #entries: Entries;
  readonly #what: Recorded;
  /** The time is in the name: pieces that a killed process has left can be found by it. */
  readonly #body: string;
  readonly #capacity: number;
  #filling: Uint8Array;
  #spare: Uint8Array | undefined;
  #filled = 0;
  #count = 0;
  #size = 0;
  #waited = 0;
  #over = false;
  #writing: Promise<boolean> = Promise.resolve(true);
  readonly #before: Promise<Uint8Array | undefined>;

  constructor(entries: Entries, what: Recorded) {
    this.#entries = entries;
    this.#what = what;
    this.#before = entries.raw(what.id);
    this.#body = `${Math.floor(what.now() / 1_000).toString(36)}-${crypto.randomUUID().slice(0, 8)}`;
    this.#capacity = Math.min(pieceSize, what.size ?? pieceSize);
    this.#filling = new Uint8Array(this.#capacity);
  }

  /** Takes the next bytes. It waits while the piece before is still being written. */
  async add(chunk: Uint8Array): Promise<void> {
    if (this.#over) return;
    this.#size += chunk.byteLength;
    const { size = this.#what.maxSize } = this.#what;
    if (this.#size > Math.min(size, this.#what.maxSize)) return this.abandon();
    for (let at = 0; at < chunk.byteLength && !this.#over; ) {
      const part = chunk.subarray(at, at + this.#capacity - this.#filled);
      this.#filling.set(part, this.#filled);
      this.#filled += part.byteLength;
      at += part.byteLength;
      if (this.#filled === this.#capacity) await this.#flush();
    }
  }

  /** Ends the file: from now on it is in the cache. */
  async finish(): Promise<void> {
    if (this.#filled > 0 && !this.#over) await this.#flush();
    if (!this.#over) await this.#written();
    const { id, policy, size = this.#size, onStored } = this.#what;
    if (this.#over || this.#size !== size || this.#size === 0) return this.abandon();
    const stored = { body: this.#body, size: this.#size };
    if (await this.#entries.commit(id, policy, stored, await this.#before)) onStored(this.#size);
    else this.abandon();
    this.#over = true;
  }

  /** Gives the file up, and deletes what was stored of it. It does not wait for that. */
  abandon(): void {
    if (this.#over) return;
    this.#over = true;
    void this.#writing.then(() => this.#entries.erase(this.#what.id, this.#body, this.#count));
  }

  async #flush(): Promise<void> {
    await this.#written();
    if (this.#over) return;
    const piece = this.#filling.subarray(0, this.#filled);
    this.#writing = this.#entries.setPiece(this.#what.id, this.#body, this.#count, piece);
    this.#count += 1;
    const isLast = piecesOf(this.#what.size ?? Number.POSITIVE_INFINITY) === this.#count;
    if (!isLast) [this.#filling, this.#spare] = [this.#spare ?? new Uint8Array(this.#capacity), this.#filling];
    this.#filled = 0;
  }

  /** Waits for the piece that is being written. */
  async #written(): Promise<void> {
    const { now, patience } = this.#what;
    const began = now();
    const held = await this.#writing;
    this.#waited += now() - began;
    if (!held || this.#waited > patience) this.abandon();
  }
}
