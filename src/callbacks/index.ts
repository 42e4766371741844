import { attempt } from "../util/foreign.ts";
import { Inbox } from "./inbox.ts";
import { type FollowerReceiverOptions, type OrderUpdatedReceiverOptions, resolveReceiverOptions } from "./options.ts";

export { CallbackValidationError } from "./errors.ts";
export type { FollowedLine, FollowedOrder, Found, OrderChange, OrderChanged, OrderGone } from "./follower/changes.ts";
export { createOrderFollower, type OrderFollower } from "./follower/create.ts";
export {
  OrderFollowerError,
  type OrderFollowerFault,
  type Reconciled,
  ReconcileError,
  type ReconcileFailure,
} from "./follower/errors.ts";
export type { OrderFollowerOptions, ReconcileOptions } from "./follower/options.ts";
export type { FollowedOrderReader, FollowerReadOptions } from "./follower/reader.ts";
export { DeadlockError } from "./handlers.ts";
export type {
  FollowerReceiverOptions,
  OrderReader,
  OrderUpdated,
  OrderUpdatedFailure,
  OrderUpdatedReceiverOptions,
} from "./options.ts";
export { type CallbackEnvironment, type OrderUpdatedParameters, parseOrderUpdated } from "./parameters.ts";

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
 *   token: "4f1c0a8b5d7e", // the callback URL in the dashboard ends in ?token=4f1c0a8b5d7e
 *   environment: "prod",
 *   onOrderUpdated: ({ order }) => save(order.reference, order.legacyOrderCode),
 * });
 */
export function createOrderUpdatedReceiver(
  options: OrderUpdatedReceiverOptions | FollowerReceiverOptions,
): OrderUpdatedReceiver {
  const inbox = new Inbox(resolveReceiverOptions(options));
  return {
    fetch: async ({ method, url }) => {
      const { status, headers, text } = await inbox.receive(method, url);
      return new Response(text || null, { status, headers });
    },
    node: async ({ method, url }, response) => {
      const { status, headers, text } = await inbox.receive(method, url);
      // A response that cannot be sent was not received: the service repeats the callback.
      attempt(() => {
        // A middleware of the server, such as one for time-outs, may have responded.
        if (response.headersSent) return;
        response.writeHead(status, headers);
        response.end(text);
      });
    },
    close: () => inbox.close(),
  };
}
