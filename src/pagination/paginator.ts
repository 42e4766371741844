import * as z from "zod/mini";
import { captureCallSite, withCallSite } from "../errors/call-site.ts";
import { CursorLoopError } from "../errors/response.ts";
import { type Endpoint, type ListPage, nameOf } from "../http/endpoint.ts";
import { newCallId } from "../http/observer.ts";
import { checkedOptions, custom, type RequestOptions, withRequestOptions } from "../http/request-options.ts";
import type { Send } from "../http/send.ts";
import type { Schema } from "../schemas/shape.ts";
import { abortController, eitherSignal, throwIfAborted } from "../util/abort-signals.ts";
import { textOf } from "../util/foreign.ts";
import { Latest } from "../util/latest.ts";
import { nextTurn } from "../util/next-turn.ts";

/** Options of a paginated list: the options of each request, and the number of pages to prefetch. */
export interface ListOptions extends RequestOptions {
  /** Number of pages to fetch ahead of the current one. Default 1. With 0, each page is fetched when the iteration reaches it. */
  readonly prefetch?: number | undefined;
}

const listOptions = withRequestOptions(() => ({
  // Infinity would prefetch without end.
  prefetch: z.optional(z.number().check(z.nonnegative({ error: "expected a number from 0" }))),
}));

const arrayOptions: Schema = () =>
  z.strictObject({
    limit: custom((value) => typeof value === "number" && !Number.isNaN(value), "expected a number"),
  });

/** Fetches one page of a list; the first page has no cursor. */
export type FetchPage<Item> = (cursor: string | undefined, options: RequestOptions) => Promise<ListPage<Item>>;

/**
 * Iterates a list of any length, and fetches its pages as needed (specification 4.11).
 *
 * The iteration returns each item once, in the order of the service. Each iteration is a new chain of requests. Leaving the loop early
 * aborts the current requests.
 *
 * @throws `RequestValidationError` if an option is invalid or unknown, such as an infinite `prefetch`.
 * @throws `CursorLoopError` if the service repeats a cursor.
 * @example
 * for await (const order of partner.orders.list()) console.log(order.reference);
 */
export class Paginator<Item> implements AsyncIterable<Item> {
  readonly #endpoint: string;
  readonly #fetchPage: FetchPage<Item>;
  readonly #options: ListOptions;

  /** @internal */
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
   * Iterates the pages, empty pages included. A page leaves out the items that an earlier page already contained.
   *
   * @throws `CursorLoopError` if the service repeats a cursor.
   * @throws `RequestValidationError` if an option is invalid or unknown, and the errors of the requests.
   * @example
   * for await (const { items } of partner.orders.list({ prefetch: 2 }).pages()) console.log(`${items.length} more`);
   */
  async *pages(): AsyncGenerator<ListPage<Item>, void, undefined> {
    // The stack of a prefetched page does not contain the caller's frames, so the frames of the loop are added to its error.
    const callSite = captureCallSite();
    const { signal, prefetch = 1, ...options } = checkedOptions(listOptions, this.#options, this.#endpoint);
    const left = abortController();
    // Only a running request listens to the caller's signal, so an abandoned iterator leaves no listener and can be garbage-collected.
    const { callId = newCallId() } = options;
    const each = { ...options, callId, signal: eitherSignal(signal, left.signal) };

    const cursors = new SeenCursors();
    const seen = new SeenItems<Item>();
    const request = async (cursor: string | undefined): Promise<ListPage<Item>> => {
      if (cursor !== undefined && !cursors.isNew(cursor)) throw new CursorLoopError({ endpoint: this.#endpoint });
      return this.#fetchPage(cursor, each);
    };
    const fetch = (cursor: string | undefined): Promise<ListPage<Item>> => {
      const page = request(cursor);
      // The error of a prefetched page is thrown when the iteration reaches that page.
      page.catch(() => undefined);
      return page;
    };
    let current = fetch(undefined);
    let latest = current;
    /** The pages after the current one that were requested. */
    const ahead: Promise<ListPage<Item>>[] = [];
    let isRequesting = false;
    /** Requests the next pages, each as soon as the previous one arrives, until enough are ahead. */
    const requestAhead = async (): Promise<void> => {
      if (isRequesting) return;
      isRequesting = true;
      try {
        while (ahead.length < prefetch) {
          const { nextCursor } = await latest;
          if (nextCursor === null) break;
          latest = fetch(nextCursor);
          ahead.push(latest);
        }
      } catch {
        // The iteration ends with it.
      }
      isRequesting = false;
    };
    try {
      for (;;) {
        // Before the caller gets the current page.
        void requestAhead();
        const page = await current.catch((error: unknown) => {
          throw withCallSite(error, callSite);
        });
        // `fetch` sends a request up to three turns of the event loop later. Waiting lets it leave before a loop body that blocks.
        for (let turn = 0; turn < 3 && prefetch > 0 && page.nextCursor !== null; turn += 1) await nextTurn();
        // After an abort, prefetched pages are not returned.
        checkSignal(this.#options);
        yield { items: seen.withoutRepeats(page.items), nextCursor: page.nextCursor };
        checkSignal(this.#options);
        if (page.nextCursor === null) return;
        latest = ahead.length > 0 ? latest : fetch(page.nextCursor);
        current = ahead.shift() ?? latest;
      }
    } finally {
      left.abort();
    }
  }

  /**
   * Collects all items, or the first `limit` items, in an array. Pages are fetched until there are enough items. Default: all.
   *
   * @throws The same errors as {@link Paginator.pages}.
   * @example
   * const newest = await partner.orders.list().toArray({ limit: 20 });
   */
  async toArray(options: { readonly limit?: number | undefined } = {}): Promise<Item[]> {
    const { limit = Number.POSITIVE_INFINITY } = checkedOptions(arrayOptions, options, this.#endpoint);
    const items: Item[] = [];
    if (limit <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= limit) break;
    }
    return items;
  }
}

/** Throws the signal's reason if the signal was aborted during the loop body. */
function checkSignal({ signal }: ListOptions): void {
  if (signal !== undefined) throwIfAborted(signal);
}

/** The number of remembered cursors. A loop of at most this many pages is found at its first repeat. */
const rememberedCursors = 1_000;

/** Finds a repeated cursor in bounded memory. Brent's algorithm finds a loop that is longer than the memory. */
class SeenCursors {
  readonly #recent = new Latest<true>(rememberedCursors);
  #landmark: string | undefined;
  #steps = 0;
  #stepsToLandmark = rememberedCursors;

  /** Adds the next cursor. False if the chain of pages repeats it. */
  isNew(cursor: string): boolean {
    if (this.#recent.get(cursor) || cursor === this.#landmark) return false;
    this.#recent.set(cursor, true);
    this.#steps += 1;
    if (this.#steps === this.#stepsToLandmark) {
      this.#landmark = cursor;
      this.#steps = 0;
      this.#stepsToLandmark *= 2;
    }
    return true;
  }
}

/** The number of remembered pages. New items can move an older item to a later page during the iteration, but not this far. */
const rememberedPages = 8;

/** Leaves out items whose reference was on one of the last pages, in bounded memory. */
class SeenItems<Item> {
  /** The page on which each reference was last, in the order of the pages. */
  readonly #lastPages = new Map<string, number>();
  #page = 0;

  withoutRepeats(items: readonly Item[]): readonly Item[] {
    // An empty page must not push an older one out of the window.
    if (items.length === 0) return items;
    this.#page += 1;
    const fresh = items.filter((item) => {
      const reference = textOf(item, "reference");
      if (reference === undefined) return true;
      const isRepeat = this.#lastPages.delete(reference);
      this.#lastPages.set(reference, this.#page);
      return !isRepeat;
    });
    for (const [reference, page] of this.#lastPages) {
      if (page > this.#page - rememberedPages) break;
      this.#lastPages.delete(reference);
    }
    return fresh;
  }
}

/** The descriptor of a paginated list endpoint (specification 4.11). */
export type PagedEndpoint<Item, Query> = Endpoint<
  { readonly query?: Query & { readonly cursor?: string | undefined } },
  ListPage<Item>
>;

/** Iterates an endpoint's list. Each request has the query and the `nextCursor` of the previous page. `onPage` receives each page. */
export const paginate = <Item, Query extends object>(
  send: Send,
  endpoint: PagedEndpoint<Item, Query>,
  query: NoInfer<Query>,
  options: ListOptions | undefined,
  onPage?: (page: ListPage<Item>) => void,
): Paginator<Item> =>
  new Paginator(
    nameOf(endpoint),
    async (cursor, each) => {
      const page = await send(endpoint, { query: { ...query, cursor } }, each);
      onPage?.(page);
      return page;
    },
    options,
  );
