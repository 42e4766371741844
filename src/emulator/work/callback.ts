import * as z from "zod/mini";
import type { OrderReference, StoreReference } from "../../references/references.ts";
import { count } from "../../schemas/shape.ts";
import { abortController } from "../../util/abort-signals.ts";
import type { PartnerClock } from "../../util/clock.ts";
import { isFunction, propertyOf, textOf, wordsOf } from "../../util/foreign.ts";

/** One delivery of a callback. */
export interface CallbackTry {
  /** When it began, in milliseconds since 1970 by the emulator's clock. */
  readonly at: number;
  /** The status of the response; null when there was none. */
  readonly status: number | null;
  /** Why there was no response; null when there was one. */
  readonly error: string | null;
  /** How long it took, in milliseconds by the clock of the options. */
  readonly duration: number;
  /** The start of the body of a response that was not 2xx. */
  readonly body?: string | undefined;
}

/** An order-updated callback with its tries (specification 6). */
export interface SentCallback {
  readonly id: number;
  readonly orderReference: OrderReference;
  readonly storeReference: StoreReference;
  /** The URL of the latest try, with the parameters. */
  readonly url: string;
  /**
   * `waiting` until a response is 2xx, then `delivered`. It is `stopped` when the store has no callback URL any more at the time of a
   * try.
   */
  readonly status: "waiting" | "delivered" | "stopped";
  /** When the next try begins, or when the current one began, in milliseconds since 1970; null if no try follows. */
  readonly nextTryAt: number | null;
  /** The number of all tries. */
  readonly tried: number;
  /** The latest 20 tries, oldest first. */
  readonly tries: readonly CallbackTry[];
}

/** A callback in the emulator's state. It is plain JSON. */
export type StoredCallback = { -readonly [Field in keyof SentCallback]: SentCallback[Field] };

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
  /**
   * How many callbacks are sent per second, in real time: a service does not deliver 10,000 at once. A move of the clock then takes as
   * long as its callbacks. Default: without a limit.
   */
  readonly perSecond?: number;
}

/** The options with their defaults. */
export type CallbackSettings = Required<Omit<CallbackOptions, "perSecond">> & Pick<CallbackOptions, "perSecond">;

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
    perSecond: z.exactOptional(count(1)),
  });

/** A try in progress. */
export interface SendingCallback {
  readonly result: Promise<Omit<CallbackTry, "at">>;
  /** Ends the try at once. Its result has the reason as error. */
  stop(reason: string): void;
}

/** The platform's `fetch` hides the error of the connection in `cause`. */
function reasonOf(error: unknown): string {
  const cause = propertyOf(error, "cause") ?? error;
  return textOf(cause, "code") ?? wordsOf(cause);
}

/** The characters that are kept of a response's body, and the milliseconds in which they have to arrive. */
const keptBody = { characters: 500, ms: 1000 };

/** Reads the start of a body, which may have no end. The rest is not wanted: an unread body would keep the connection busy. */
async function startOfBody(body: ReadableStream<Uint8Array>, wire: PartnerClock): Promise<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  const cancel = () => reader.cancel().catch(() => {});
  const stopTimer = wire.after(keptBody.ms, cancel);
  let text = "";
  try {
    for (let part = await reader.read(); !part.done && text.length < keptBody.characters; part = await reader.read()) {
      text += part.value;
    }
  } catch {
    // The connection broke: what has arrived is shown.
  } finally {
    stopTimer();
    void cancel();
  }
  return text.slice(0, keptBody.characters);
}

/** Sends a callback once: a GET without a body. A redirect is not followed. The result never rejects. */
export function sendCallback(url: string, settings: CallbackSettings, wire: PartnerClock): SendingCallback {
  const { fetch, timeout } = settings;
  const controller = abortController();
  // A `fetch` of the options can ignore the signal, so the end does not depend on it.
  const ended = Promise.withResolvers<never>();
  const stop = (reason: string) => {
    ended.reject(new Error(reason));
    controller.abort(new Error(reason));
  };
  const send = async () => {
    const response = await fetch(new Request(url, { redirect: "manual", signal: controller.signal }));
    const { status, body } = response;
    if (body === null) return { status };
    if (status < 300) {
      body.cancel().catch(() => {});
      return { status };
    }
    return { status, body: await startOfBody(body, wire) };
  };
  const run = async () => {
    const started = wire.now();
    const cancel = wire.after(timeout, () => stop(`no response within ${timeout} ms`));
    const duration = () => Math.round(wire.now() - started);
    try {
      const response = await Promise.race([send(), ended.promise]);
      return { ...response, error: null, duration: duration() };
    } catch (error) {
      return { status: null, error: reasonOf(error), duration: duration() };
    } finally {
      cancel();
    }
  };
  return { result: run(), stop };
}

/** A try that is not sent, because its receiver did not respond for some time while the clock moved. */
export const skippedCallback: SendingCallback = {
  result: Promise.resolve({
    status: null,
    error: "not sent: 3 tries of this move of the clock got no response",
    duration: 0,
  }),
  stop: () => {},
};
