import type { ApiCall } from "../../http/call/call.ts";
import type { Send } from "../../http/call/core.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import { getRendertokens } from "./rendertokens.endpoints.ts";
import type { Rendertokens } from "./rendertokens.schema.ts";

/** The week's budget for renders (specification 2.9, 4.6). */
export class RendertokensResource {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Reads how many rendertokens are used and left, and when they reset (specification 2.9).
   *
   * @example
   * const { remaining, resets } = await partner.rendertokens.get();
   */
  get(options?: RequestOptions): ApiCall<Rendertokens> {
    return this.#send(getRendertokens, {}, options);
  }
}
