import { GoneError, saysMissing } from "../errors/api.ts";
import { DeadlineError } from "../errors/connection.ts";
import type { OrderReference } from "../references/references.ts";
import type { Order } from "../resources/orders/orders.endpoints.ts";
import { reasonOf, throwIfAborted } from "../util/abort-signals.ts";
import { sha256 } from "../util/digest.ts";
import { attempt, propertyOf, safely, textOf, wordsOf } from "../util/foreign.ts";
import { Latest } from "../util/latest.ts";
import { withTimeout } from "../util/with-timeout.ts";
import { OrderFollowerError } from "./errors.ts";
import {
  type FollowerReceiverOptions,
  type OrderUpdated,
  type OrderUpdatedReceiverOptions,
  resolveReceiverOptions,
} from "./options.ts";
import { callHandler, deadlockHint, OrderQueue, refuseInHandler } from "./order-work.ts";
import { isTooLong, lastOf, type OrderUpdatedParameters, parseOrderUpdated, queryOf } from "./parameters.ts";

/** The most callbacks that wait or are in work. Each holds a connection and some kilobytes. */
const mostOpen = 1_000;
/** How many orders may be missing at once, and milliseconds after which one more may. */
const mostMissing = 100;
const missingEvery = 1_000;
/** Milliseconds for which the service may not show an order of which it sends callbacks, and how many such orders are remembered. */
const invisibleFor = 3_600_000;
const mostInvisible = 10_000;

/** The part of a Node request that the receiver uses. The requests of `node:http`, `node:http2` and Express have it. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
}

/** The part of a Node response that the receiver uses. The responses of `node:http`, `node:http2` and Express have it. */
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
   * the next process. Call it before the server is closed.
   *
   * @throws `DeadlockError` in the receiver's own handler, which it would wait for, on platforms with `node:async_hooks`.
   */
  readonly close: () => Promise<void>;
}

/**
 * Makes a receiver for the order-updated callback (specification 6). It checks the parameters and the token, fetches the order with high
 * priority, hands it over, and responds: 204 when the handler has finished, 503 when it failed or the order could not be read, so that the
 * service repeats the callback about 5 minutes later.
 *
 * With the option `follower` instead of `partner` and `onOrderUpdated`, the follower fetches the order and hands over what is new.
 *
 * Callbacks of one order share a fetch. One that arrives after the fetch began causes another one, so that no change is missed.
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
  /** The callbacks that wait or are in work. */
  const open = new Set<Promise<CallbackResponse>>();
  let isClosed = false;
  /** When all missing orders are forgotten. */
  let missingUntil = 0;
  /** When the service did not show an order for the first time, by its reference. */
  const missingSince = new Latest<number>(mostInvisible);

  async function receive(method: string | undefined, url = ""): Promise<CallbackResponse> {
    if (method !== "GET") return wrongMethod;
    // To read a query of megabytes takes long.
    if (isTooLong(url)) return tooLong;
    // The token comes before the parameters: a caller without it learns nothing about the receiver, and costs nothing.
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
    if (open.size >= mostOpen) return overloaded;
    const response = respond(callback);
    open.add(response);
    return response.finally(() => open.delete(response));
  }

  /** Never rejects. */
  async function respond(callback: OrderUpdatedParameters): Promise<CallbackResponse> {
    const { orderReference } = callback;
    try {
      refuseInHandler(receiver, "A callback of this order", orderReference);
      return await orders.run(
        orderReference,
        () => handleInTime(callback),
        async () => {
          const message = `The callback waited ${timeout} ms for its turn: ${concurrency} orders were in work (option \`concurrency\` of the receiver).`;
          report(callback, new OrderFollowerError({ fault: "busy", message }), 503);
          return overloaded;
        },
      );
    } catch (error) {
      return report(callback, error, 503);
    }
  }

  async function handleInTime(callback: OrderUpdatedParameters): Promise<CallbackResponse> {
    if (missingUntil - clock.now() > (mostMissing - 1) * missingEvery) return overloaded;
    const message = `The order was not fetched and handled within ${timeout} ms (option \`timeout\` of the receiver). ${deadlockHint}`;
    const late = () => new DeadlineError({ message });
    return withTimeout(clock, timeout, late, (signal) => {
      const work = "follower" in settings ? feed(settings, callback, signal) : handle(settings, callback, signal);
      // A handler that ignores the signal may fail after its response.
      work.catch((error: unknown) => {
        if (signal.aborted && error !== reasonOf(signal)) report(callback, error, 503);
      });
      return work;
    });
  }

  /** The follower reads the order under its own lock, so that one request is enough. */
  async function feed(
    { follower }: FollowerReceiverOptions,
    callback: OrderUpdatedParameters,
    signal: AbortSignal,
  ): Promise<CallbackResponse> {
    const { orderReference } = callback;
    const found = await callHandler(receiver, orderReference, signal, () => follower.update(orderReference));
    if (found === "gone") countMissing();
    if (found !== "missing") {
      forgetMissing(orderReference);
      return acknowledged;
    }
    // So sweeps read it, too. Its time in the storage ends the repetitions, also when no process lives that long.
    if (token !== false) await follower.follow?.(orderReference);
    const message = `The service has no order ${orderReference}, or does not show it yet.`;
    return missing(callback, new OrderFollowerError({ fault: "missing", message }));
  }

  async function handle(
    { partner, onOrderUpdated }: OrderUpdatedReceiverOptions,
    callback: OrderUpdatedParameters,
    signal: AbortSignal,
  ): Promise<CallbackResponse> {
    const { orderReference } = callback;
    let order: Order;
    try {
      order = await partner.orders.get(orderReference, { priority: "high", deadline: timeout, signal });
    } catch (error) {
      if (!saysMissing(error)) throw error;
      return missing(callback, error);
    }
    forgetMissing(orderReference);
    throwIfAborted(signal);
    const update = updateOf(order, callback, signal);
    await callHandler(receiver, orderReference, signal, () => onOrderUpdated(update));
    return acknowledged;
  }

  /**
   * Responds to a callback whose order the service does not show. With a token the caller is the service, which repeats the callback until
   * it shows the order, for an hour at most: the order may be another organization's. Without one the reference may be invented.
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

  /**
   * Limits the requests for orders that do not exist. Without a token, any program can send callbacks with invented references. The order
   * of a genuine callback exists, so it does not count.
   */
  function countMissing(): void {
    if (token !== false) return;
    missingUntil = Math.max(missingUntil, clock.now()) + missingEvery;
  }

  function report({ orderReference }: OrderUpdatedParameters, error: unknown, status: 204 | 503): CallbackResponse {
    safely(() => onError({ orderReference, error, status }));
    return status === 204 ? acknowledged : failed;
  }

  const receiver: OrderUpdatedReceiver = {
    fetch: async ({ method, url }) => {
      const { status, headers, text } = await receive(method, url);
      return new Response(text || null, { status, headers });
    },
    node: async ({ method, url }, response) => {
      const { status, headers, text } = await receive(method, url);
      // A response that cannot be sent was not received: the service repeats the callback.
      attempt(() => {
        // A middleware of the server, such as one for time-outs, may have responded.
        if (response.headersSent) return;
        response.writeHead(status, headers);
        response.end(text);
      });
    },
    close: async () => {
      refuseInHandler(receiver, "`close` of the receiver");
      isClosed = true;
      await Promise.allSettled(open);
    },
  };
  return receiver;
}

/** A field of the order, which is certain; otherwise what the callback says. */
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

/** A `+` that is not percent-encoded in the URL, as base64 has it, arrives as a space: both count as the same. */
const digestOf = (text: string): Promise<Uint8Array> => sha256(text.replaceAll(" ", "+"));

/**
 * Compares hashes of both tokens, byte by byte to the end, so that the duration shows neither the content nor the length of the expected
 * one. WebCrypto is on every runtime.
 */
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

/** A cache in front of the server must not respond to the next callback of the same order. */
const uncached = { "cache-control": "no-store" };

const withText = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): CallbackResponse => ({
  status,
  headers: { ...uncached, "content-type": "text/plain; charset=utf-8", ...headers },
  text: `${text}\n`,
});

/** The callback is handled, or its order does not exist. The service stops repeating it. */
const acknowledged: CallbackResponse = { status: 204, headers: uncached, text: "" };

const unavailable = (why: string) => withText(503, `${why} Repeat this callback later.`);

const failed = unavailable("The order was not processed.");
const overloaded = unavailable("Too many callbacks are waiting.");
const closed = unavailable("This receiver is closed.");

const badRequest = (why: string) => withText(400, why);
const wrongToken = withText(403, "The parameter `token` is missing or wrong.");
const tooLong = withText(414, "The URL of the callback is too long.");
const wrongMethod = withText(405, "A callback is a GET.", { allow: "GET" });
