import { type Download, PodPartner, type RenderReference } from "pod-partner";
import type { PacingStore } from "pod-partner/redis";

const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey: "a-secret-key" });

// @ts-expect-error only `redisPacing` makes a store.
export const named: PacingStore = { kind: "redis" };
// @ts-expect-error a function that joins nothing makes no store, either.
export const joined: PacingStore = { kind: "redis", join: () => undefined };
// @ts-expect-error the client makes downloads.
export const download = new Download();

export const media = (reference: RenderReference): Promise<Download> =>
  partner.renders.media(reference, { wait: true });
export const paced = (store: PacingStore) => new PodPartner({ pacing: { store } });
