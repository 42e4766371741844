import type { Endpoint, EndpointInput } from "../http/endpoint/endpoint.ts";
import type { RequestOptions } from "../http/endpoint/request-options.ts";
import type { ApiCall, Send } from "../http/send.ts";

/** The descriptor of a list without pages. */
type ListEndpoint<Item> = Endpoint<EndpointInput, readonly Item[]>;

/** Lists resources of one kind. The list has no pages: one request returns all of it. */
export class ListResource<Item> {
  readonly #send: Send;
  readonly #endpoint: ListEndpoint<Item>;

  /** @internal */
  constructor(send: Send, endpoint: ListEndpoint<Item>) {
    this.#send = send;
    this.#endpoint = endpoint;
  }

  /**
   * Lists all resources of this kind with one request.
   *
   * @example
   * const stores = await partner.organization.stores.list();
   * const writable = stores.filter(({ integration }) => integration === "api");
   */
  list(options?: RequestOptions): ApiCall<readonly Item[]> {
    return this.#send(this.#endpoint, {}, options);
  }
}
