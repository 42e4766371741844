import { captureCallSite, manyFrames, withCallSite } from "../errors/call-site.ts";
import { assertOptions } from "../http/endpoint/check-options.ts";
import type { ListPage } from "../http/endpoint/endpoint.ts";
import type { RequestOptions } from "../http/endpoint/request-options.ts";
import { eitherSignal } from "../util/either-signal.ts";
import { CursorTrail } from "./cursor-trail.ts";
import { RecentItems } from "./recent-items.ts";

/** Options of a list: those of each of its requests, and how far to read ahead. */
export interface ListOptions extends RequestOptions {
  /** Pages to fetch while you work on the present one. Default 1; 0 fetches a page when it is asked for. */
  readonly prefetch?: number | undefined;
}

/** Fetches one page of a list. */
export type FetchPage<Item> = (cursor: string | undefined, options: RequestOptions) => Promise<ListPage<Item>>;

/**
 * A list of any length, fetched page by page as it is iterated (specification 4.11).
 *
 * Each item comes once and in order. Each iteration is a new chain of requests; leaving one early ends the request that is
 * under way.
 *
 * @throws `RequestValidationError` when an option is none, such as an endless `prefetch`; `CursorLoopError` when a cursor comes back.
 * @example
 * for await (const order of partner.orders.list()) console.log(order.reference);
 */
export class Paginator<Item> implements AsyncIterable<Item> {
  readonly #endpoint: string;
  readonly #fetchPage: FetchPage<Item>;
  readonly #options: ListOptions;

  constructor(endpoint: string, fetchPage: FetchPage<Item>, options: ListOptions = {}) {
    this.#endpoint = endpoint;
    this.#fetchPage = fetchPage;
    this.#options = options;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) {
      for (const item of page.items) {
        yield item;
        checkSignal(this.#options);
      }
    }
  }

  /**
   * Iterates the pages, with the items that an earlier page has already given left out. Empty ones come too.
   *
   * @throws `CursorLoopError` when the service gives a cursor that it has given before, otherwise what a request ends with.
   * @example
   * for await (const { items } of partner.orders.list({ prefetch: 2 }).pages()) console.log(`${items.length} more`);
   */
  async *pages(): AsyncGenerator<ListPage<Item>, void, undefined> {
    // A page that was asked for ahead has none of the caller's lines in its stack: those of the loop are added.
    const callSite = captureCallSite(captureCallSite, manyFrames);
    assertOptions("list", this.#options, this.#endpoint);
    const { signal, prefetch = 1, ...options } = this.#options;
    const left = new AbortController();
    // Only a request that is under way listens to the caller's signal: an abandoned iterator leaves no listener and can be collected.
    const each = { ...options, signal: eitherSignal(signal, left.signal) };

    const trail = new CursorTrail(this.#endpoint);
    const recent = new RecentItems<Item>();
    const fetch = (cursor: string | undefined) => this.#fetchPage(cursor, each);
    const following = async (page: ListPage<Item> | undefined): Promise<ListPage<Item> | undefined> => {
      if (page === undefined || page.nextCursor === null) return undefined;
      trail.follow(page.nextCursor);
      return fetch(page.nextCursor);
    };

    // Each promise waits for the one before it: a cursor is known only when its page is there.
    let last: Promise<ListPage<Item> | undefined> = fetch(undefined);
    const ahead = [last];
    const fetchNext = () => {
      last = last.then(following);
      // A failure is told when its turn comes, if it comes.
      last.catch(() => undefined);
      ahead.push(last);
    };

    try {
      for (;;) {
        if (ahead.length === 0) fetchNext();
        const page = await ahead.shift()?.catch((error: unknown) => {
          throw withCallSite(error, callSite);
        });
        if (page === undefined) return;
        // What came ahead of an abort is not what the caller still wants.
        checkSignal(this.#options);
        while (ahead.length < prefetch) fetchNext();
        yield { items: recent.withoutRepeats(page.items), nextCursor: page.nextCursor };
        checkSignal(this.#options);
      }
    } finally {
      left.abort();
    }
  }

  /**
   * All items, or the first `limit` of them, in an array. Pages are fetched until there are enough. Default: all.
   *
   * @throws the same as {@link Paginator.pages}.
   * @example
   * const newest = await partner.orders.list().toArray({ limit: 20 });
   */
  async toArray(options: { readonly limit?: number | undefined } = {}): Promise<Item[]> {
    assertOptions("all", options, this.#endpoint);
    const { limit = Number.POSITIVE_INFINITY } = options;
    const items: Item[] = [];
    if (limit <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= limit) break;
    }
    return items;
  }
}

/** Throws the signal's reason when the loop that has come back for more has been told to end. */
function checkSignal({ signal }: ListOptions): void {
  if (signal?.aborted) throw signal.reason;
}
