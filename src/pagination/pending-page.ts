import type { ListPage } from "../http/endpoint/endpoint.ts";
import { departure } from "./departure.ts";

/** Receives the cursor of the next page as soon as it is known. What follows waits for the returned promise. */
export type OnCursor = (cursor: string) => Promise<void> | undefined;

/** Fetches the page with this cursor; the first page has none. */
export type FetchWithCursor<Item> = (cursor: string | undefined, onCursor: OnCursor) => Promise<ListPage<Item>>;

/** A page of a list that was requested, or will be when its cursor is known. */
export interface PendingPage<Item> {
  /** Undefined after the last page. */
  readonly page: Promise<ListPage<Item> | undefined>;
  /** Requests the page after this one, as soon as its cursor is known. */
  readonly next: () => PendingPage<Item>;
}

const ignore = () => undefined;

/** Requests the page with a cursor; null is the cursor after the last page. */
export function pendingPage<Item>(
  fetch: FetchWithCursor<Item>,
  cursor: Promise<string | undefined | null> = Promise.resolve(undefined),
): PendingPage<Item> {
  const early = Promise.withResolvers<string>();
  let following: PendingPage<Item> | undefined;
  const onCursor: OnCursor = (nextCursor) => {
    // Nothing needs the next page yet. By then this page may turn out not to be valid.
    if (following === undefined) return undefined;
    early.resolve(nextCursor);
    // Parsing would block the thread, and so delay the request that is made now.
    return departure(following.page);
  };
  const page = cursor.then((known) => (known === null ? undefined : fetch(known, onCursor)));
  const nextCursor = Promise.race([early.promise, page.then((arrived) => arrived?.nextCursor ?? null)]);
  // The error of a prefetched page is thrown when the iteration reaches that page.
  for (const promise of [page, nextCursor]) promise.catch(ignore);
  return {
    page,
    next: () => {
      following = pendingPage(fetch, nextCursor);
      return following;
    },
  };
}
