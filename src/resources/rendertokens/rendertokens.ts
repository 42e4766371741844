import type { RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, Send } from "../../http/send.ts";
import { getRendertokens, type Rendertokens } from "./rendertokens.endpoints.ts";

/** Reads the weekly rendertoken limit (specification 2.9, 4.6). */
export class RendertokensResource {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Reads the used and remaining rendertokens of the week and the time of the reset (specification 2.9, 4.6).
   *
   * @example
   * const { remaining, resets } = await partner.rendertokens.get();
   */
  get(options?: RequestOptions): ApiCall<Rendertokens> {
    return this.#send(getRendertokens, {}, options);
  }
}
