import type { Download } from "../../binary/download.ts";
import type { Body } from "../transport.ts";
import { type Entries, type Entry, piecesOf } from "./entry.ts";

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
