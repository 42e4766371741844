import { type Endpoint, type ListPage, nameOf } from "../http/endpoint.ts";
import type { Send } from "../http/send.ts";
import { type ListOptions, Paginator } from "./paginator.ts";

/** The descriptor of a paginated list endpoint (specification 4.11). */
export type PagedEndpoint<Item, Query> = Endpoint<
  { readonly query?: Query & { readonly cursor?: string | undefined } },
  ListPage<Item>
>;

/** Iterates an endpoint's list. Each request has the query and the `nextCursor` of the page before. `onPage` receives each page. */
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
