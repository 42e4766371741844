import type { BodyWatcher } from "../../binary/streams.ts";
import type { ClientStorage } from "../../storage/client-storage.ts";
import { fromJson, toJson } from "../../storage/values.ts";
import { dateOf, type PartnerClock } from "../../util/clock.ts";
import { propertyOf } from "../../util/foreign.ts";
import { FilePolicy } from "./policy.ts";

/*
 * How files lie in the storage: in pieces under `file:<id>:<copy>:<index>`, and then a head under `file:<id>`, which names the copy. Each
 * download writes a copy of its own.
 */

/** Bytes of each piece of a file, except the last. */
const pieceSize = 256 * 1024;
/** Milliseconds that a stored value lasts. No lifetime of a response is longer than a year. */
const ttl = 366 * 24 * 3_600_000;
/** A use is written down only when the last one is this many milliseconds old. */
const useInterval = 60_000;
/** Milliseconds after which the pieces of a copy without a head are what a killed process has left. */
const abandonedAfter = 3_600_000;
/** Milliseconds for which a process that dies while it tidies up keeps others from it. */
const lockTime = 60_000;
/** The part of the limit that this process may store before it looks at the storage again: other processes store, too. */
const unseen = 0.1;

const prefix = "file:";
const headKey = (id: string) => `${prefix}${id}`;
const pieceKey = (id: string, copy: string, index: number) => `${prefix}${id}:${copy}:${index}`;
const countOf = (size: number): number => Math.ceil(size / pieceSize);

/** What the storage holds about a file besides its bytes. */
interface Head {
  readonly version: 1;
  /** The name of the copy. */
  readonly body: string;
  readonly size: number;
  /** When the file was last used, in milliseconds since 1970. */
  readonly used: number;
  readonly policy: unknown;
}

/** Whether a value is the head of a file, in this version of its form. */
const isHead = (value: unknown): value is Head => propertyOf(value, "version") === 1;

/** A file of which the head was read. */
interface KnownFile {
  readonly id: string;
  /** The head as it is stored. */
  readonly raw: Uint8Array;
  readonly head: Head;
}

/** A file that can be used for a request. */
export interface StoredFile extends KnownFile {
  readonly policy: FilePolicy;
  readonly first: Uint8Array;
}

/** The files in a client's storage. Those of all processes together stay below a limit, roughly: each can exceed it by a tenth. */
export class FileStore {
  readonly maxSize: number;
  readonly #storage: ClientStorage;
  readonly #clock: PartnerClock;
  /** Bytes that this process has stored since it looked at the storage; before the first look, infinite. */
  #added = Number.POSITIVE_INFINITY;
  #tidying: Promise<void> | undefined;

  constructor(storage: ClientStorage, maxSize: number, clock: PartnerClock) {
    this.#storage = storage;
    this.maxSize = maxSize;
    this.#clock = clock;
  }

  /** Reads a file; undefined if the storage does not have it, or its head or its first piece is damaged. */
  async read(id: string): Promise<StoredFile | undefined> {
    const known = await this.#know(id);
    const policy = known && FilePolicy.from(known.head.policy, () => this.#now());
    if (known === undefined || policy === undefined) return undefined;
    const first = await this.#piece(known, 0);
    return first && { ...known, policy, first };
  }

  async #know(id: string): Promise<KnownFile | undefined> {
    const raw = await this.#storage.get(headKey(id));
    const head = fromJson(raw);
    return raw && isHead(head) ? { id, raw, head } : undefined;
  }

  /** Gives the bytes of a file piece by piece. It ends early if a piece is missing or damaged. */
  async *pieces(file: StoredFile): AsyncGenerator<Uint8Array, void> {
    yield file.first;
    for (let index = 1; index < countOf(file.head.size); index += 1) {
      const piece = await this.#piece(file, index);
      if (piece === undefined) return;
      yield piece;
    }
  }

  /** The point in time: other processes read it. */
  #now(): number {
    return dateOf(this.#clock);
  }

  #piece({ id, head }: KnownFile, index: number): Promise<Uint8Array | undefined> {
    return this.#storage.get(pieceKey(id, head.body, index));
  }

  /** Writes down that a file was used, and its policy if that has changed. */
  async use({ id, raw, head }: KnownFile, policy?: FilePolicy): Promise<void> {
    const used = this.#now();
    if (policy === undefined && used - head.used < useInterval) return;
    const changed = { ...head, used, policy: policy ?? head.policy };
    await this.#storage.set(headKey(id), toJson(changed), { ttl, expected: raw });
  }

  /** Removes a file, unless another download has replaced it. Resolves to whether it did. */
  async drop({ id, raw, head }: KnownFile): Promise<boolean> {
    const dropped = await this.#storage.delete(headKey(id), { expected: raw });
    if (dropped) await this.#erase(id, head.body, countOf(head.size));
    return dropped === true;
  }

  /** Removes pieces that no head names. */
  async #erase(id: string, copy: string, count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) await this.#storage.delete(pieceKey(id, copy, index));
  }

  /**
   * Stores a file while the caller reads it. Two pieces are in memory: one that fills, one that is being written. A file that cannot be
   * stored is given up without an effect on the download, and its pieces are deleted.
   *
   * @param size The `Content-Length`; undefined without one.
   * @param patience Milliseconds that the download waits for the storage in all, before the rest of the file is not stored.
   */
  record(id: string, policy: FilePolicy, size: number | undefined, patience: number): BodyWatcher {
    const before = this.#storage.get(headKey(id));
    // The time is in the name: pieces that a killed process has left can be found by it.
    const copy = `${Math.floor(this.#now() / 1_000).toString(36)}-${crypto.randomUUID().slice(0, 8)}`;
    const mostBytes = Math.min(size ?? this.maxSize, this.maxSize);
    let received = 0;
    let piece = new Uint8Array(Math.min(pieceSize, mostBytes));
    let filled = 0;
    let count = 0;
    let waited = 0;
    let over = false;
    let writing: Promise<boolean | undefined> = Promise.resolve(true);

    const abandon = () => {
      if (over) return;
      over = true;
      void writing.then(() => this.#erase(id, copy, count));
    };
    const written = async () => {
      const began = this.#clock.now();
      const held = await writing;
      waited += this.#clock.now() - began;
      if (!held || waited > patience) abandon();
    };
    const write = async () => {
      await written();
      if (over) return;
      writing = this.#storage.set(pieceKey(id, copy, count), piece.subarray(0, filled), { ttl });
      count += 1;
      piece = new Uint8Array(Math.min(pieceSize, mostBytes - received));
      filled = 0;
    };
    const add = async (chunk: Uint8Array) => {
      for (let rest = chunk; rest.byteLength > 0 && !over; ) {
        if (received + rest.byteLength > mostBytes) return abandon();
        const part = rest.subarray(0, piece.byteLength - filled);
        piece.set(part, filled);
        filled += part.byteLength;
        received += part.byteLength;
        rest = rest.subarray(part.byteLength);
        if (filled === piece.byteLength) await write();
      }
    };
    const finish = async () => {
      if (filled > 0) await write();
      await written();
      // The `fetch` of a caller may end a body too early without an error.
      if (received !== (size ?? received)) abandon();
      if (over) return;
      const head: Head = { version: 1, body: copy, size: received, used: this.#now(), policy };
      // From here on the file is complete: a caller that cancels now does not remove its pieces.
      over = true;
      if (await this.#commit(id, head, await before)) this.#stored(received);
      else void this.#erase(id, copy, count);
    };
    return { add, finish, abandon };
  }

  /**
   * Makes a complete copy the file of its URL. `before` is the head when the download began. Resolves to false if another download was
   * faster, because callers may be reading that copy, or if the storage is lost.
   */
  async #commit(id: string, head: Head, before: Uint8Array | undefined): Promise<boolean> {
    const set = await this.#storage.set(headKey(id), toJson(head), { ttl, expected: before ?? null });
    const replaced = fromJson(before);
    if (set && isHead(replaced)) void this.#erase(id, replaced.body, countOf(replaced.size));
    return set === true;
  }

  /** Counts the bytes of a file that was stored. Tidies up in the background after each tenth of the limit. */
  #stored(size: number): void {
    this.#added += size;
    if (this.#added <= this.maxSize * unseen) return;
    this.#tidying ??= this.#tidy().finally(() => {
      this.#tidying = undefined;
    });
  }

  /** Removes what killed processes have left, and then the least recently used files, until the rest is within the limit. */
  async #tidy(): Promise<void> {
    const lock = await this.#storage.lock(`${prefix}tidy`, lockTime);
    if (typeof lock !== "object") return;
    this.#added = 0;
    const { files, loose } = await this.#look();
    for (const { id, copy, count } of loose) await this.#erase(id, copy, count);
    let size = files.reduce((sum, { head }) => sum + head.size, 0);
    for (const file of files.sort((one, other) => one.head.used - other.head.used)) {
      if (size <= this.maxSize) break;
      if (await this.drop(file)) size -= file.head.size;
    }
    await lock.release();
  }

  /** Reads the heads of all files, and finds the pieces that belong to none and are old. */
  async #look() {
    const copies = new Map<string, { readonly id: string; readonly copy: string; count: number }>();
    // A storage may list a key twice.
    const ids = new Set<string>();
    for await (const key of this.#storage.keys(prefix)) {
      const [id = "", copy, index] = key.slice(prefix.length).split(":");
      if (copy === undefined) {
        ids.add(id);
        continue;
      }
      const pieces = copies.get(copy) ?? { id, copy, count: 0 };
      pieces.count = Math.max(pieces.count, Number(index) + 1);
      copies.set(copy, pieces);
    }
    const files: KnownFile[] = [];
    for (const id of ids) {
      const file = await this.#know(id);
      if (file === undefined) continue;
      files.push(file);
      copies.delete(file.head.body);
    }
    const before = (this.#now() - abandonedAfter) / 1_000;
    return { files, loose: [...copies.values()].filter(({ copy }) => Number.parseInt(copy, 36) < before) };
  }
}
