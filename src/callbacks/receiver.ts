import { GoneError, isConfirmedMissing } from "../errors/api.ts";
import { DeadlineError } from "../errors/connection.ts";
import type { OrderReference } from "../references/references.ts";
import type { Order } from "../resources/orders/orders.endpoints.ts";
import { reasonOf, throwIfAborted } from "../util/abort-signals.ts";
import { sha256 } from "../util/digest.ts";
import { attempt, propertyOf, safely, textOf, wordsOf } from "../util/foreign.ts";
import { Latest } from "../util/latest.ts";
import { withTimeout } from "../util/with-timeout.ts";
import { deadlockHint, fault } from "./errors.ts";
import {
  type FollowerReceiverOptions,
  type OrderUpdated,
  type OrderUpdatedReceiverOptions,
  resolveReceiverOptions,
} from "./options.ts";
import { OrderQueue } from "./order-queue.ts";
import { invisibleFor } from "./order-state.ts";
import { isTooLong, lastOf, type OrderUpdatedParameters, parseOrderUpdated, queryOf } from "./parameters.ts";

/** The most callbacks at a time, waiting ones included. Each holds a connection and a few kilobytes. */
const maxOpen = 1_000;
/** How many missing orders are looked up in a burst, and the milliseconds until one more is. */
const maxMissing = 100;
const missingEvery = 1_000;
/** How many orders are remembered that the service does not show. */
const maxInvisible = 10_000;

/** What the receiver needs of a Node request. Those of `node:http`, `node:http2` and Express have it. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
}

/** What the receiver needs of a Node response. Those of `node:http`, `node:http2` and Express have it. */
export interface NodeResponse {
  readonly headersSent: boolean;
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(text: string): unknown;
}

/** Receives order-updated callbacks. Its functions need no `this`, so they can be routes. */
export interface OrderUpdatedReceiver {
  /** Handles a request of a web-standard server: Hono, Next.js, Bun, Deno, Workers. It never rejects. */
  readonly fetch: (request: { readonly method: string; readonly url: string }) => Promise<Response>;
  /** Handles a request of Node, Express or Fastify, and sends the response. It never rejects. */
  readonly node: (request: NodeRequest, response: NodeResponse) => Promise<void>;
  /**
   * Waits for the callbacks that were accepted, at most twice the `timeout`. New ones receive a 503, so that the service repeats them for
   * the next process. Call it before the server is closed, and not in a handler, which would wait for itself until the `timeout`.
   */
  readonly close: () => Promise<void>;
}

/**
 * Makes a receiver for the order-updated callback (specification 6). It checks the token and the parameters, fetches the order with high
 * priority, and calls your handler. It responds with 204 when the handler has finished, and with 503 when it failed or the order could not
 * be read, so that the service repeats the callback about 5 minutes later.
 *
 * With the option `follower` instead of `partner` and `onOrderUpdated`, the follower fetches the order and hands over what is new.
 *
 * Callbacks of one order share a fetch. A callback that arrives after the fetch began causes another one, so no change is missed.
 *
 * @throws `ConfigurationError` if an option is invalid or unknown.
 * @example
 * const receiver = createOrderUpdatedReceiver({
 *   partner,
 *   token: "4f1c0a8b5d7e2396", // the callback URL in the dashboard ends in ?token=4f1c0a8b5d7e2396
 *   environment: "prod",
 *   onOrderUpdated: ({ order }) => save(order.reference, order.legacyOrderCode),
 * });
 */
export function createOrderUpdatedReceiver(
  options: OrderUpdatedReceiverOptions | FollowerReceiverOptions,
): OrderUpdatedReceiver {
  const settings = resolveReceiverOptions(options);
  const { token, environment, clock, concurrency, timeout, onError } = settings;
  const orders = new OrderQueue<CallbackResponse>({ clock, concurrency, maxWait: timeout });
  /** The accepted callbacks without a response. */
  const open = new Set<Promise<CallbackResponse>>();
  let isClosed = false;
  /** When the last missing order no longer counts. */
  let missingUntil = 0;
  /** When the service first did not show an order, by its reference. */
  const missingSince = new Latest<number>(maxInvisible);

  async function receive(method: string | undefined, url = ""): Promise<CallbackResponse> {
    if (method !== "GET") return wrongMethod;
    // Parsing a query of megabytes would block the process.
    if (isTooLong(url)) return tooLong;
    // Check the token first, so that a caller without it costs nothing and learns nothing from the other errors.
    if (token !== false && !(await isSameToken(lastOf(queryOf(url), "token"), token))) return wrongToken;
    let callback: OrderUpdatedParameters;
    try {
      callback = parseOrderUpdated(url);
    } catch (error) {
      return badRequest(wordsOf(error));
    }
    if (environment !== undefined && callback.environment !== environment) {
      return badRequest(`This receiver accepts only callbacks of the environment ${environment}.`);
    }
    if (isClosed) return closed;
    if (open.size >= maxOpen) return overloaded;
    const response = respond(callback);
    open.add(response);
    return response.finally(() => open.delete(response));
  }

  /** Never rejects. */
  async function respond(callback: OrderUpdatedParameters): Promise<CallbackResponse> {
    const late = async () => {
      const message = `The callback waited ${timeout} ms for its turn: an earlier callback of the order or ${concurrency} other orders (option \`concurrency\` of the receiver) were in work. ${deadlockHint}`;
      report(callback, fault("busy", message), 503);
      return overloaded;
    };
    try {
      return await orders.run(callback.orderReference, () => handleInTime(callback), late);
    } catch (error) {
      return report(callback, error, 503);
    }
  }

  async function handleInTime(callback: OrderUpdatedParameters): Promise<CallbackResponse> {
    if (missingUntil - clock.now() > (maxMissing - 1) * missingEvery) return overloaded;
    const message = `The order was not fetched and handled within ${timeout} ms (option \`timeout\` of the receiver). ${deadlockHint}`;
    const late = () => new DeadlineError({ message });
    return withTimeout(clock, timeout, late, (signal) => {
      const work =
        "follower" in settings ? passToFollower(settings, callback) : readAndHandle(settings, callback, signal);
      // The work goes on after the time-out if the handler ignores the signal. A later error has no response, but is reported.
      work.catch((error: unknown) => {
        if (signal.aborted && error !== reasonOf(signal)) report(callback, error, 503);
      });
      return work;
    });
  }

  async function passToFollower(
    { follower }: FollowerReceiverOptions,
    callback: OrderUpdatedParameters,
  ): Promise<CallbackResponse> {
    const { orderReference } = callback;
    const found = await follower.update(orderReference);
    if (found === "gone") countMissing();
    if (found !== "missing") {
      forgetMissing(orderReference);
      return acknowledged;
    }
    // Sweeps check it from now on. The storage knows when it was followed, so the repetitions end even if no process lives for an hour.
    if (token !== false) await follower.follow?.(orderReference);
    return missing(callback, fault("missing", `The service has no order ${orderReference}, or does not show it yet.`));
  }

  async function readAndHandle(
    { partner, onOrderUpdated }: OrderUpdatedReceiverOptions,
    callback: OrderUpdatedParameters,
    signal: AbortSignal,
  ): Promise<CallbackResponse> {
    const { orderReference } = callback;
    let order: Order;
    try {
      order = await partner.orders.get(orderReference, { priority: "high", deadline: timeout, signal });
    } catch (error) {
      if (!isConfirmedMissing(error)) throw error;
      return missing(callback, error);
    }
    forgetMissing(orderReference);
    throwIfAborted(signal);
    await onOrderUpdated(updateOf(order, callback, signal));
    return acknowledged;
  }

  /**
   * Responds to a callback whose order the service does not show. With a token the caller is the service, so it gets a 503 and repeats the
   * callback until the order is visible. After an hour it gets a 204, because the order may belong to another organization. Without a token
   * the reference may be invented.
   */
  function missing(callback: OrderUpdatedParameters, error: unknown): CallbackResponse {
    countMissing();
    if (token === false || GoneError.isInstance(error)) return report(callback, error, 204);
    const { orderReference } = callback;
    const since = missingSince.get(orderReference) ?? clock.now();
    missingSince.set(orderReference, since);
    return report(callback, error, clock.now() - since > invisibleFor ? 204 : 503);
  }

  function forgetMissing(orderReference: OrderReference): void {
    const since = missingSince.get(orderReference);
    if (since !== undefined) missingSince.forget(orderReference, since);
  }

  /** Limits the requests for invented references: without a token, any program can send them. Genuine callbacks do not count. */
  function countMissing(): void {
    if (token !== false) return;
    missingUntil = Math.max(missingUntil, clock.now()) + missingEvery;
  }

  function report({ orderReference }: OrderUpdatedParameters, error: unknown, status: 204 | 503): CallbackResponse {
    safely(() => onError({ orderReference, error, status }));
    return status === 204 ? acknowledged : failed;
  }

  return {
    fetch: async (request) => {
      const { status, headers, text } = await receive(textOf(request, "method"), textOf(request, "url"));
      return new Response(text || null, { status, headers });
    },
    node: async (request, response) => {
      const { status, headers, text } = await receive(textOf(request, "method"), textOf(request, "url"));
      // Sending can throw. Then the service receives no response and repeats the callback.
      attempt(() => {
        // A middleware, such as one for time-outs, may have responded already.
        if (response.headersSent) return;
        response.writeHead(status, headers);
        response.end(text);
      });
    },
    close: async () => {
      isClosed = true;
      await Promise.allSettled(open);
    },
  };
}

/** A field of the order; if the order lacks it, what the callback says. */
const fieldOr = (order: Order, name: "customIdentifier" | "viaStoreCode", said: string | undefined) =>
  propertyOf(order, name) === undefined ? said : textOf(order, name);

function updateOf(order: Order, callback: OrderUpdatedParameters, signal: AbortSignal): OrderUpdated {
  // The v1 code is `<store_code>-<number>` (specification 2.4).
  const storeCode = /^(.+)-\d+$/.exec(order.legacyOrderCode)?.[1];
  return {
    order,
    orderReference: callback.orderReference,
    customIdentifier: fieldOr(order, "customIdentifier", callback.customIdentifier),
    storeCode: storeCode ?? callback.storeCode,
    viaStoreCode: fieldOr(order, "viaStoreCode", callback.viaStoreCode),
    environment: callback.environment,
    signal,
  };
}

/** Treats a space as a `+`: a `+` of base64 that is not percent-encoded in the URL arrives as a space. */
const digestOf = (text: string): Promise<Uint8Array> => sha256(text.replaceAll(" ", "+"));

/** Compares in constant time: the hashes have one length, and all bytes are compared. Every runtime has WebCrypto, so no `timingSafeEqual`. */
async function isSameToken(given: string | undefined, expected: string): Promise<boolean> {
  const [left, right] = await Promise.all([digestOf(given ?? ""), digestOf(expected)]);
  return left.reduce((difference, byte, at) => difference | (byte ^ (right[at] ?? 0)), 0) === 0;
}

/** The response to a callback, for any kind of server. */
interface CallbackResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for none. */
  readonly text: string;
}

/** Keeps a cache in front of the server from answering the next callback of the same order. */
const uncached = { "cache-control": "no-store" };

const withText = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): CallbackResponse => ({
  status,
  headers: { ...uncached, "content-type": "text/plain; charset=utf-8", ...headers },
  text: `${text}\n`,
});

/** The callback was handled, or its order does not exist. The service does not repeat it. */
const acknowledged: CallbackResponse = { status: 204, headers: uncached, text: "" };

const unavailable = (why: string) => withText(503, `${why} Repeat this callback later.`);

const failed = unavailable("The order was not processed.");
const overloaded = unavailable("Too many callbacks are waiting.");
const closed = unavailable("This receiver is closed.");

const badRequest = (why: string) => withText(400, why);
const wrongToken = withText(403, "The parameter `token` is missing or wrong.");
const tooLong = withText(414, "The URL of the callback is too long.");
const wrongMethod = withText(405, "A callback is a GET.", { allow: "GET" });
