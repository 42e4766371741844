import type { Plan, Send } from "../http/call/core.ts";
import { type Endpoint, type ListPage, nameOf } from "../http/endpoint/endpoint.ts";
import { cursorAtEnd } from "./early-cursor.ts";
import { type ListOptions, Paginator } from "./paginator.ts";

/** The descriptor of a paginated list endpoint (specification 4.11). */
export type PagedEndpoint<Item, Query> = Endpoint<
  { readonly query?: Query & { readonly cursor?: string | undefined } },
  ListPage<Item>
>;

/** Iterates an endpoint's list. Each request has the query and the `nextCursor` of the page before. */
export const paginate = <Item, Query extends object>(
  send: Send,
  endpoint: PagedEndpoint<Item, Query>,
  query: NoInfer<Query>,
  options: ListOptions | undefined,
  plan: Plan<ListPage<Item>, ListPage<Item>> = { strict: false, shape: (page) => page },
): Paginator<Item> =>
  new Paginator(
    nameOf(endpoint),
    (cursor, page, onCursor) => {
      // The next page is requested before the response to this one is parsed.
      const beforeParsing = (text: string) => {
        const next = cursorAtEnd(text);
        return next === undefined ? undefined : onCursor(next);
      };
      return send(endpoint, { query: { ...query, cursor } }, page, { ...plan, beforeParsing });
    },
    options,
  );
