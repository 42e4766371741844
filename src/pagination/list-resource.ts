import type { Endpoint, EndpointInput } from "../http/endpoint.ts";
import type { RequestOptions } from "../http/request-options.ts";
import { type ApiCall, type Start, sendAndRead } from "../http/send.ts";
import { Paginator } from "./paginator.ts";

/**
 * Reads a list that has no pages by specification 4.11. By the conventions of part 1, any list may have a `nextCursor`: then it reads the rest,
 * within the same deadline.
 */
export const readList = <Input extends EndpointInput, Item>(
  start: Start,
  endpoint: Endpoint<Input, readonly Item[]>,
  input: Input,
  options: RequestOptions | undefined,
): ApiCall<readonly Item[]> =>
  start(endpoint, options, async (call) => {
    const first = await sendAndRead(call, input);
    if (first.nextCursor === undefined) return first;
    const fetchPage = async (cursor: string | undefined) => {
      const { data, nextCursor = null } = cursor === undefined ? first : await sendAndRead(call, { ...input, cursor });
      return { items: data, nextCursor };
    };
    const pages = new Paginator(call.name, fetchPage, { prefetch: 0 });
    return { data: await pages.toArray(), response: first.response };
  });

/** Lists resources of one kind. The list has no pages. */
export class ListResource<Item> {
  readonly #start: Start;
  readonly #endpoint: Endpoint<EndpointInput, readonly Item[]>;

  /** @internal */
  constructor(start: Start, endpoint: Endpoint<EndpointInput, readonly Item[]>) {
    this.#start = start;
    this.#endpoint = endpoint;
  }

  /**
   * Lists all resources of this kind.
   *
   * @example
   * const stores = await partner.organization.stores.list();
   * const writable = stores.filter(({ integration }) => integration === "api");
   */
  list(options?: RequestOptions): ApiCall<readonly Item[]> {
    return readList(this.#start, this.#endpoint, {}, options);
  }
}
