import * as z from "zod/mini";
import { endpoint, field } from "../../http/endpoint.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, CallContext } from "../../http/send.ts";
import { open, timestamp } from "../../schemas/shape.ts";

/** The weekly rendertoken limit of the organization (specification 2.9, 8). */
export interface Rendertokens {
  /** Tokens used this week. */
  readonly used: number;
  /** Tokens per week. */
  readonly limit: number;
  /** Remaining tokens of this week. A render that costs more throws `RendertokenLimitError`. */
  readonly remaining: number;
  /** Time of the next reset, Monday 00:00 Europe/Amsterdam: an ISO 8601 timestamp with an offset. */
  readonly resets: string;
}
const rendertokens = () =>
  open<Rendertokens>({
    used: z.int(),
    limit: z.int(),
    remaining: z.int(),
    resets: timestamp(),
  });

export const getRendertokens = endpoint({
  call: "rendertokens.get",
  method: "GET",
  path: "/rendertokens",
  response: field("rendertokens", rendertokens),
  repeat: "safe",
});

/** Reads the weekly rendertoken limit (specification 2.9, 4.6). */
export class RendertokensResource {
  readonly #context: CallContext;

  /** @internal */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Reads the used and remaining rendertokens of the week and the time of the reset (specification 2.9, 4.6).
   *
   * @example
   * const { remaining, resets } = await partner.rendertokens.get();
   */
  get(options?: RequestOptions): ApiCall<Rendertokens> {
    return this.#context.send(getRendertokens, {}, options);
  }
}
