import type { ApiCall } from "../http/call/call.ts";
import type { Send } from "../http/call/core.ts";
import type { Endpoint, EndpointInput } from "../http/endpoint/endpoint.ts";
import type { RequestOptions } from "../http/endpoint/request-options.ts";

/** The descriptor of a list that one request brings whole. */
type ListEndpoint<Item> = Endpoint<EndpointInput, readonly Item[]>;

/** A resource that can be listed, and nothing else: the list has no pages and comes in one request. */
export class ListResource<Item> {
  readonly #send: Send;
  readonly #endpoint: ListEndpoint<Item>;

  /** @internal */
  constructor(send: Send, endpoint: ListEndpoint<Item>) {
    this.#send = send;
    this.#endpoint = endpoint;
  }

  /**
   * Lists all of them, in one request.
   *
   * @example
   * const stores = await partner.organization.stores.list();
   * const writable = stores.filter(({ integration }) => integration === "api");
   */
  list(options?: RequestOptions): ApiCall<readonly Item[]> {
    return this.#send(this.#endpoint, {}, options);
  }
}
