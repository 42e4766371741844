import * as z from "zod/mini";
import { count } from "../../schemas/shape.ts";
import { isFunction } from "../../schemas/type-guards.ts";

/** How the emulator sends order-updated callbacks (specification 6). */
export interface CallbackOptions {
  /**
   * Delivers a callback. Default: over HTTP, with the platform's `fetch`. With the `fetch` of a receiver no port is needed.
   *
   * @example
   * createEmulator({ callbackUrl: "https://shop.example/callback", callbacks: { fetch: () => new Response() } });
   */
  readonly fetch?: (request: Request) => Response | Promise<Response>;
  /**
   * Milliseconds until a try without a response counts as failed, by the clock of the options. The specification does not show it.
   * Default 10,000.
   */
  readonly timeout?: number;
  /** Whether callbacks have the deprecated parameters `partner_reference`, `partner_code` and `via_partner_code`, too. Default true. */
  readonly aliases?: boolean;
  /** How many times each callback is sent besides the first one, at the same time. Default 0. */
  readonly duplicates?: number;
}

/** The options with their defaults. */
export type CallbackSettings = Required<CallbackOptions>;

/** The URL that callbacks of a store go to. */
export const callbackUrl = () =>
  z.string().check(
    z.refine((text) => URL.canParse(text), {
      error: "expected a URL, for example https://shop.example/callback?token=…",
      abort: true,
    }),
    z.refine((text) => /^https?:$/.test(new URL(text).protocol), { error: "must start with http: or https:" }),
    z.refine((text) => new URL(text).username + new URL(text).password === "", {
      error: "must not contain credentials before the host: put a token into the query",
    }),
  );

export const defaultCallbacks: CallbackSettings = {
  fetch: (request) => fetch(request),
  timeout: 10_000,
  aliases: true,
  duplicates: 0,
};

/** The schema of {@link CallbackOptions}. */
export const callbackOptions = () =>
  z.strictObject({
    // A function as the default would be called to make the default.
    fetch: z._default(
      z.custom<CallbackSettings["fetch"]>(isFunction, { error: "expected a function that takes a Request" }),
      () => defaultCallbacks.fetch,
    ),
    timeout: z._default(count(1), defaultCallbacks.timeout),
    aliases: z._default(z.boolean(), defaultCallbacks.aliases),
    duplicates: z._default(count(0), defaultCallbacks.duplicates),
  });
