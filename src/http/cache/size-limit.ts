import type { ClientStorage } from "../../storage/client-storage.ts";
import { Entries, type Head, prefix } from "./entry.ts";

/** Milliseconds after which the pieces of a file without a head are what a killed process has left. */
const abandonedAfter = 3_600_000;
/** Milliseconds for which a process that dies while it tidies up keeps others from it. */
const lockTime = 60_000;
/** The part of the limit that this process may store before it looks at the storage again: other processes store, too. */
const unseen = 0.1;

interface SizedFile {
  readonly id: string;
  readonly raw: Uint8Array;
  readonly head: Head;
}

/** The pieces of one body. */
interface Pieces {
  readonly id: string;
  readonly body: string;
  count: number;
}

/**
 * Keeps the files of all processes below a limit, roughly: each process can exceed it by a tenth. The least recently used files go first,
 * and with them the pieces that killed processes have left.
 */
export class SizeLimit {
  readonly #storage: ClientStorage;
  readonly #entries: Entries;
  readonly #maxSize: number;
  readonly #now: () => number;
  /** The bytes in the storage by the latest look, and what this process has added since; before the first look, infinite. */
  #size = Number.POSITIVE_INFINITY;
  #added = 0;
  #tidying: Promise<void> | undefined;

  constructor(storage: ClientStorage, maxSize: number, now: () => number) {
    this.#storage = storage;
    this.#entries = new Entries(storage, now);
    this.#maxSize = maxSize;
    this.#now = now;
  }

  /** Counts a file that was stored. Tidies up in the background if the limit may be exceeded. */
  add(size: number): void {
    this.#size += size;
    this.#added += size;
    if (this.#size <= this.#maxSize && this.#added <= this.#maxSize * unseen) return;
    this.#tidying ??= this.#tidy().finally(() => {
      this.#tidying = undefined;
    });
  }

  async #tidy(): Promise<void> {
    const lock = await this.#storage.lock(`${prefix}tidy`, lockTime);
    if (lock === undefined || lock === "lost") return;
    this.#added = 0;
    const { files, loose } = await this.#look();
    for (const { id, body, count } of loose) await this.#entries.erase(id, body, count);
    let size = files.reduce((sum, { head }) => sum + head.size, 0);
    for (const file of files.sort((one, other) => one.head.used - other.head.used)) {
      if (size <= this.#maxSize) break;
      if (await this.#entries.drop(file)) size -= file.head.size;
    }
    this.#size = size + this.#added;
    await lock.release();
  }

  /** Reads the heads of all files, and finds the pieces that belong to none. */
  async #look(): Promise<{ readonly files: SizedFile[]; readonly loose: readonly Pieces[] }> {
    const bodies = new Map<string, Pieces>();
    const ids = new Set<string>();
    for await (const key of this.#storage.keys(prefix)) {
      const [id = "", body, index] = key.slice(prefix.length).split(":");
      if (body === undefined) {
        ids.add(id);
        continue;
      }
      const pieces = bodies.get(body) ?? { id, body, count: 0 };
      pieces.count = Math.max(pieces.count, Number(index) + 1);
      bodies.set(body, pieces);
    }
    const files: SizedFile[] = [];
    for (const id of ids) {
      const held = await this.#entries.look(id);
      if (held === undefined) continue;
      files.push({ id, ...held });
      bodies.delete(held.head.body);
    }
    const before = (this.#now() - abandonedAfter) / 1_000;
    return { files, loose: [...bodies.values()].filter(({ body }) => Number.parseInt(body, 36) < before) };
  }
}
