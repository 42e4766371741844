import type { PodPartnerOptions } from "pod-partner";
import { type NodeTransportOptions, nodeTransport } from "pod-partner/node";
import { clientOf as clientOver } from "../support/transports.ts";

/** A client on `nodeTransport` that tries once. */
export const clientOf = (origin: string, options: PodPartnerOptions = {}, ofTransport: NodeTransportOptions = {}) =>
  clientOver(origin, { transport: nodeTransport(ofTransport), ...options });
