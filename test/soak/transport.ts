import type { Transport } from "../../src/http/transport.ts";
import { nodeTransport } from "../../src/node/index.ts";

/** What sends the requests of a soak: the default of the client, or `nodeTransport`. */
export type TransportKind = "fetch" | "node";

export const transportKinds: readonly TransportKind[] = ["fetch", "node"];

/** The option `transport` of the client. */
export const transportOf = (kind: TransportKind): { readonly transport?: Transport } =>
  kind === "node" ? { transport: nodeTransport() } : {};
