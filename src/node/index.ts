/**
 * A transport on `node:http`.
 *
 * @module pod-partner/node
 */

import type { Transport } from "../http/transport.ts";
import { Connections } from "./connections.ts";
import { sendOnConnection } from "./exchange.ts";
import { type NodeTransportOptions, resolveNodeOptions } from "./options.ts";

export type { Transport } from "../http/transport.ts";
export type { NodeTransportOptions } from "./options.ts";

/**
 * Makes a transport on `node:http` and `node:https`, which uses less CPU than the default. It needs Node.
 *
 * It speaks HTTP/1.1, keeps connections open for later reads, and sends each write on a connection of its own. Several clients can
 * share one transport.
 *
 * @throws `ConfigurationError` if an option is invalid or unknown, or if this runtime cannot do what it asks for.
 * @example
 * const partner = new PodPartner({ baseUrl, secretKey, transport: nodeTransport() });
 */
export function nodeTransport(options?: NodeTransportOptions): Transport {
  const connections = new Connections(resolveNodeOptions(options));
  return {
    kind: "node",
    send: async (request, stop, clock) => {
      // The connection of an earlier response may have ended together with that response.
      if (request.method === "GET") await connections.settled();
      stop.check();
      return sendOnConnection(connections, request, stop, clock);
    },
  };
}
