import { type Download, PodPartner, type RenderReference } from "pod-partner";
import { nodeTransport, type Transport } from "pod-partner/node";
import type { PacingStore } from "pod-partner/redis";

const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey: "a-secret-key" });

// @ts-expect-error only `redisPacing` creates a store.
export const named: PacingStore = { kind: "redis" };
// @ts-expect-error a function that joins nothing is not a store, either.
export const joined: PacingStore = { kind: "redis", join: () => undefined };
// @ts-expect-error only `nodeTransport` creates a transport.
export const transport: Transport = { kind: "node" };
// @ts-expect-error a function that sends nothing is not a transport, either.
export const sending: Transport = { kind: "node", send: () => undefined };
// @ts-expect-error only the client creates downloads.
export const download = new Download();

export const media = (reference: RenderReference): Promise<Download> =>
  partner.renders.media(reference, { wait: true });
export const paced = (store: PacingStore) => new PodPartner({ pacing: { store } });
export const lean = () => new PodPartner({ transport: nodeTransport({ maxSockets: 8 }) });
