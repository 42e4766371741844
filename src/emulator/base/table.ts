import * as z from "zod/mini";
import type { ListPage } from "../../http/endpoint.ts";
import { count } from "../../schemas/shape.ts";
import { Problem } from "./problem.ts";

/** Records by reference, in the order of their creation. A record is plain JSON. */
export class RecordTable<Stored extends { readonly reference: string }> {
  readonly #records = new Map<string, Stored>();

  get size(): number {
    return this.#records.size;
  }

  add<Added extends Stored>(record: Added): Added {
    this.#records.set(record.reference, record);
    return record;
  }

  get(reference: string | null | undefined): Stored | undefined {
    return typeof reference === "string" ? this.#records.get(reference) : undefined;
  }

  delete(reference: string): void {
    this.#records.delete(reference);
  }

  /** All records, oldest first. */
  values(): Iterable<Stored> {
    return this.#records.values();
  }

  save(): readonly Stored[] {
    return [...this.#records.values()];
  }

  /** Replaces all records. */
  load(records: readonly Stored[]): void {
    this.#records.clear();
    for (const record of records) this.add(record);
  }
}

/** A cursor has the name of the list, the position that the next page begins before, and the time that the list begins at. */
const cursorPattern = /^(\w+):(\d+):(-?\d+)$/;

interface Cursor {
  readonly before: number;
  readonly since: number;
}

const toCursor = (list: string, { before, since }: Cursor): string =>
  Buffer.from(`${list}:${before}:${since}`).toString("base64url");

function fromCursor(list: string, cursor: string): Cursor {
  const match = cursorPattern.exec(Buffer.from(cursor, "base64url").toString());
  if (match?.[1] !== list) throw new Problem("unknown_input_error", "The cursor does not belong to this list");
  return { before: Number(match[2]), since: Number(match[3]) };
}

/** The lists with pages (specification 4.11, rule 1). */
export const pagedLists = ["orders", "claims", "products", "images", "items"] as const;
export type PagedList = (typeof pagedLists)[number];
/** Items on a page of each list. */
export type PageSizes = Readonly<Record<PagedList, number>>;

/** The option `pageSize`: a number for all lists, or one for each. */
export const pageSize = () =>
  z.union(
    [count(1), z.partialRecord(z.enum(pagedLists), count(1))],
    `expected a number of at least 1, or such a number for each of ${pagedLists.join(", ")}`,
  );

/** The page size of each list: 50 if none is given. */
export const pageSizesOf = (given: number | Partial<PageSizes>): PageSizes => {
  const sizes = { orders: 50, claims: 50, products: 50, images: 50, items: 50 };
  if (typeof given !== "number") return { ...sizes, ...given };
  for (const name of pagedLists) sizes[name] = given;
  return sizes;
};

/** Records of a paginated list. No record is ever deleted. */
export class Collection<Stored extends { readonly reference: string }> extends RecordTable<Stored> {
  readonly #name: string;
  readonly #pageSize: number;
  readonly #oldestFirst: boolean;
  readonly #inOrder: Stored[] = [];

  constructor(name: PagedList, pageSizes: PageSizes, oldestFirst = false) {
    super();
    this.#name = name;
    this.#pageSize = pageSizes[name];
    this.#oldestFirst = oldestFirst;
  }

  override add<Added extends Stored>(record: Added): Added {
    this.#inOrder.push(record);
    return super.add(record);
  }

  override load(records: readonly Stored[]): void {
    this.#inOrder.length = 0;
    super.load(records);
  }

  /** All records, oldest first. */
  all(): readonly Stored[] {
    return this.#inOrder;
  }

  /**
   * A page, newest first. A cursor points at a position, so records that are added between two pages do not shift the next page.
   * A full page has a cursor even when no record follows (specification 4.11, rule 4).
   *
   * `keep` selects the records by the time `since`. The cursor carries the time, so that the next page needs only the cursor (rule 3).
   */
  page(
    cursor: string | undefined,
    keep: (record: Stored, since: number) => boolean = () => true,
    since = 0,
  ): ListPage<Stored> {
    const end = this.#inOrder.length;
    if (this.#oldestFirst) return this.#pageFromOldest(cursor, keep, since);
    const start = cursor === undefined ? { before: end, since } : fromCursor(this.#name, cursor);
    let before = Math.min(end, start.before);
    const items: Stored[] = [];
    while (items.length < this.#pageSize && before > 0) {
      before -= 1;
      const record = this.#inOrder[before];
      if (record !== undefined && keep(record, start.since)) items.push(record);
    }
    const isFull = items.length === this.#pageSize;
    return { items, nextCursor: isFull ? toCursor(this.#name, { before, since: start.since }) : null };
  }

  /** A page, oldest first. The position of its cursor is that of the next record. */
  #pageFromOldest(
    cursor: string | undefined,
    keep: (record: Stored, since: number) => boolean,
    since: number,
  ): ListPage<Stored> {
    const start = cursor === undefined ? { before: 0, since } : fromCursor(this.#name, cursor);
    let next = start.before;
    const items: Stored[] = [];
    while (items.length < this.#pageSize && next < this.#inOrder.length) {
      const record = this.#inOrder[next];
      next += 1;
      if (record !== undefined && keep(record, start.since)) items.push(record);
    }
    const isFull = items.length === this.#pageSize;
    return { items, nextCursor: isFull ? toCursor(this.#name, { before: next, since: start.since }) : null };
  }
}

/**
 * Copies JSON deeply, without fields that are undefined. It takes a fraction of the time of writing and parsing a text. Bytes, which the
 * body of a fault can be, are not copied.
 */
export function jsonCopy<Value>(value: Value): Value;
export function jsonCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => jsonCopy(entry));
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) if (field !== undefined) copy[name] = jsonCopy(field);
  return copy;
}
