import type { Plan, Send } from "../http/call/core.ts";
import { type Endpoint, type ListPage, nameOf } from "../http/endpoint/endpoint.ts";
import { type ListOptions, Paginator } from "./paginator.ts";

/** The descriptor of a list that comes in pages, each asked for by a cursor. */
type PagedEndpoint<Item, Query> = Endpoint<
  { readonly query?: Query & { readonly cursor?: string | undefined } },
  ListPage<Item>
>;

/** Iterates an endpoint's list; each page is asked for with the query and the cursor that the page before it gave. */
export const paginate = <Item, Query extends object>(
  send: Send,
  endpoint: PagedEndpoint<Item, Query>,
  query: NoInfer<Query>,
  options: ListOptions | undefined,
  plan: Plan<ListPage<Item>, ListPage<Item>> = { strict: false, shape: (page) => page },
): Paginator<Item> =>
  new Paginator(
    nameOf(endpoint),
    (cursor, page) => send(endpoint, { query: { ...query, cursor } }, page, plan),
    options,
  );
