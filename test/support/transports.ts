import { PodPartner, type PodPartnerOptions } from "pod-partner";
import { nodeTransport } from "pod-partner/node";
import { connectTimeout } from "./fast-clock.ts";
import { secretKey } from "./partner.ts";

/** The transports, and the options of a client that uses one. A test of the contract runs over each: `describe.each(transports)`. */
export const transports: readonly { readonly name: "fetch" | "nodeTransport"; readonly over: PodPartnerOptions }[] = [
  { name: "fetch", over: {} },
  { name: "nodeTransport", over: { transport: nodeTransport({ connectTimeout }) } },
];

/** A client that tries once. */
export const clientOf = (origin: string, options: PodPartnerOptions) =>
  new PodPartner({ baseUrl: `${origin}/v2`, secretKey, retry: { retries: 0 }, ...options });
