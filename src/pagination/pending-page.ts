import type { ListPage } from "../http/endpoint/endpoint.ts";
import { departure } from "./departure.ts";

/** Receives the cursor of the next page as soon as it is known. What follows waits for the returned promise. */
export type OnCursor = (cursor: string) => Promise<void> | undefined;

/** Fetches the page with this cursor; the first page has none. */
export type FetchWithCursor<Item> = (cursor: string | undefined, onCursor: OnCursor) => Promise<ListPage<Item>>;

const ignore = () => undefined;

/** A page of a list that was requested, or will be when the cursor of the page before it is known. */
export class PendingPage<Item> {
  /** Undefined after the last page. */
  readonly page: Promise<ListPage<Item> | undefined>;
  readonly #fetch: FetchWithCursor<Item>;
  /** The cursor of the next page; null after the last page. */
  readonly #nextCursor: Promise<string | null>;
  #next: PendingPage<Item> | undefined;

  constructor(fetch: FetchWithCursor<Item>, cursor: Promise<string | undefined | null> = Promise.resolve(undefined)) {
    this.#fetch = fetch;
    const early = Promise.withResolvers<string>();
    const onCursor: OnCursor = (nextCursor) => {
      // Nothing needs the next page yet. By then this page may turn out not to be valid.
      if (this.#next === undefined) return undefined;
      early.resolve(nextCursor);
      // Parsing would block the thread, and so delay the request that is made now.
      return departure(this.#next.page);
    };
    this.page = cursor.then((known) => (known === null ? undefined : fetch(known, onCursor)));
    this.#nextCursor = Promise.race([early.promise, this.page.then((page) => page?.nextCursor ?? null)]);
    // The error of a prefetched page is thrown when the iteration reaches that page.
    this.page.catch(ignore);
    this.#nextCursor.catch(ignore);
  }

  /** Requests the page after this one, as soon as its cursor is known. */
  next(): PendingPage<Item> {
    this.#next = new PendingPage(this.#fetch, this.#nextCursor);
    return this.#next;
  }
}
