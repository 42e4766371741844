import type { ClientStorage } from "../../storage/client-storage.ts";
import { fromJson, toJson } from "../../storage/values.ts";
import { propertyOf } from "../../util/foreign.ts";
import { type Fields, FilePolicy } from "./policy.ts";

/** Bytes of each piece of a file, except the last. */
export const pieceSize = 256 * 1024;
/** Milliseconds that a stored value lasts. No lifetime of a response is longer than a year. */
const ttl = 366 * 24 * 3_600_000;
/** A hit is written down only when the last one is this many milliseconds old. */
const useInterval = 60_000;

/** What the storage holds about a file besides its bytes. It is written last, when all pieces are there. */
export interface Head {
  readonly version: 1;
  /** The name of the body's pieces. Each download has its own. */
  readonly body: string;
  readonly size: number;
  /** When the file was last used, in milliseconds since 1970. */
  readonly used: number;
  readonly policy: unknown;
}

/** A stored file: its head, and the first piece of its bytes. */
export interface Entry {
  readonly id: string;
  /** The head as it is stored. */
  readonly raw: Uint8Array;
  readonly head: Head;
  readonly policy: FilePolicy;
  readonly first: Uint8Array;
}

export const prefix = "file:";
const headKey = (id: string) => `${prefix}${id}`;
const pieceKey = (id: string, body: string, index: number) => `${prefix}${id}:${body}:${index}`;
export const piecesOf = (size: number): number => Math.ceil(size / pieceSize);

/** The length of a piece of a file. */
const lengthOf = (size: number, index: number): number => Math.min(pieceSize, size - index * pieceSize);

/** Whether a value is the head of a file, in this version of its form. */
const isHead = (value: unknown): value is Head =>
  propertyOf(value, "version") === 1 &&
  typeof propertyOf(value, "body") === "string" &&
  Number(propertyOf(value, "size")) > 0 &&
  typeof propertyOf(value, "used") === "number";

/** Reads the head of a file; undefined if another version has written it. */
function headOf(raw: Uint8Array | undefined): Head | undefined {
  const value = fromJson(raw);
  return isHead(value) ? value : undefined;
}

/** The headers of a stored file, with its true length. */
export const headersOf = ({ policy, head }: Pick<Entry, "policy" | "head">): Fields => ({
  ...policy.headers(),
  "content-length": String(head.size),
});

/** The files in a client's storage. */
export class Entries {
  readonly #storage: ClientStorage;
  readonly #now: () => number;

  constructor(storage: ClientStorage, now: () => number) {
    this.#storage = storage;
    this.#now = now;
  }

  /** Resolves to a file that can be used for a request; undefined if the storage does not have it or it is damaged. */
  async read(id: string): Promise<Entry | undefined> {
    const raw = await this.raw(id);
    const head = headOf(raw);
    const policy = head && FilePolicy.from(head.policy, this.#now);
    if (raw === undefined || head === undefined || policy === undefined) return undefined;
    const first = await this.piece(id, head, 0);
    return first && { id, raw, head, policy, first };
  }

  /** Reads the head of a file as it is stored. */
  raw(id: string): Promise<Uint8Array | undefined> {
    return this.#storage.get(headKey(id));
  }

  /** Reads the head of a file, and its bytes in the storage. */
  async look(id: string): Promise<{ readonly raw: Uint8Array; readonly head: Head } | undefined> {
    const raw = await this.raw(id);
    const head = headOf(raw);
    return raw && head && { raw, head };
  }

  /** Reads a piece of a file; undefined if it is missing or damaged. */
  async piece(id: string, { body, size }: Pick<Head, "body" | "size">, index: number): Promise<Uint8Array | undefined> {
    const piece = await this.#storage.get(pieceKey(id, body, index));
    return piece?.byteLength === lengthOf(size, index) ? piece : undefined;
  }

  /** Sets a piece of a file. Resolves to whether the storage holds it. */
  async setPiece(id: string, body: string, index: number, piece: Uint8Array): Promise<boolean> {
    return (await this.#storage.set(pieceKey(id, body, index), piece, { ttl })) === true;
  }

  /**
   * Makes a complete file the file of its URL. `before` is the head when the download began. Resolves to false if another download was
   * faster, because callers may be reading that copy, or if the storage is lost.
   */
  async commit(
    id: string,
    policy: FilePolicy,
    { body, size }: Pick<Head, "body" | "size">,
    before: Uint8Array | undefined,
  ): Promise<boolean> {
    const head: Head = { version: 1, body, size, used: this.#now(), policy };
    const set = await this.#storage.set(headKey(id), toJson(head), { ttl, expected: before ?? null });
    const replaced = headOf(before);
    if (set && replaced !== undefined) void this.erase(id, replaced.body, piecesOf(replaced.size));
    return set === true;
  }

  /** Writes down that a file was used, and what a 304 has changed. */
  async refresh(entry: Entry, policy?: FilePolicy): Promise<void> {
    const { id, raw, head } = entry;
    const used = this.#now();
    if (policy === undefined && used - head.used < useInterval) return;
    await this.#storage.set(headKey(id), toJson({ ...head, used, policy: policy ?? head.policy }), {
      ttl,
      expected: raw,
    });
  }

  /** Removes a file, unless another download has replaced it. */
  async drop({ id, raw, head }: Pick<Entry, "id" | "raw" | "head">): Promise<boolean> {
    const dropped = await this.#storage.delete(headKey(id), { expected: raw });
    if (dropped) await this.erase(id, head.body, piecesOf(head.size));
    return dropped === true;
  }

  /** Removes pieces that no head names. */
  async erase(id: string, body: string, count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) await this.#storage.delete(pieceKey(id, body, index));
  }
}
