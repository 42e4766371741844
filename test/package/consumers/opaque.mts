import { type Download, PodPartner, type RenderReference } from "pod-partner";
import { nodeTransport, type Transport } from "pod-partner/node";
import type { SharedPacing } from "pod-partner/redis";

const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey: "a-secret-key" });

// @ts-expect-error only `redisPacing` creates a storage.
export const named: SharedPacing = { kind: "redis" };
// @ts-expect-error a function that joins nothing is not a storage, either.
export const joined: SharedPacing = { kind: "redis", join: () => undefined };
// @ts-expect-error only `nodeTransport` creates a transport.
export const transport: Transport = { kind: "node" };
// @ts-expect-error a function that sends nothing is not a transport, either.
export const sending: Transport = { kind: "node", send: () => undefined };
// @ts-expect-error only the client creates downloads.
export const download = new Download();

export const media = (reference: RenderReference): Promise<Download> =>
  partner.renders.media(reference, { wait: true });
export const paced = (shared: SharedPacing) => new PodPartner({ pacing: { shared } });
export const lean = () => new PodPartner({ transport: nodeTransport({ maxSockets: 8 }) });
