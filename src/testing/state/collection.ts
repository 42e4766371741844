import type { ListPage } from "../../http/endpoint/endpoint.ts";
import { Problem } from "../http/problem.ts";

/** A cursor has the name of the list and the position that the next page begins before. */
const cursorPattern = /^(\w+):(\d+)$/;

const toCursor = (list: string, before: number): string => Buffer.from(`${list}:${before}`).toString("base64url");

function fromCursor(list: string, cursor: string): number {
  const match = cursorPattern.exec(Buffer.from(cursor, "base64url").toString());
  if (match?.[1] !== list) throw new Problem("unknown_input_error", "The cursor does not belong to this list");
  return Number(match[2]);
}

/** Records by reference, in the order of their creation. */
export class Collection<Stored extends { readonly reference: string }> {
  readonly #name: string;
  readonly #pageSize: number;
  readonly #byReference = new Map<string, Stored>();
  readonly #inOrder: Stored[] = [];

  constructor(name: string, pageSize: number) {
    this.#name = name;
    this.#pageSize = pageSize;
  }

  add<Added extends Stored>(record: Added): Added {
    this.#byReference.set(record.reference, record);
    this.#inOrder.push(record);
    return record;
  }

  get(reference: string | undefined): Stored | undefined {
    return reference === undefined ? undefined : this.#byReference.get(reference);
  }

  /** All records, oldest first. */
  all(): readonly Stored[] {
    return this.#inOrder;
  }

  /**
   * A page, newest first. A cursor points at a position, so records that are added between two pages do not shift the next page.
   * A full page has a cursor even when no record follows (specification 4.11, rule 4).
   */
  page(cursor: string | undefined, keep: (record: Stored) => boolean = () => true): ListPage<Stored> {
    const end = this.#inOrder.length;
    let position = cursor === undefined ? end : Math.min(end, fromCursor(this.#name, cursor));
    const items: Stored[] = [];
    while (items.length < this.#pageSize && position > 0) {
      position -= 1;
      const record = this.#inOrder[position];
      if (record !== undefined && keep(record)) items.push(record);
    }
    return { items, nextCursor: items.length === this.#pageSize ? toCursor(this.#name, position) : null };
  }
}
