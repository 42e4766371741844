import type { PartnerClock } from "../util/clock.ts";
import type { ClientStore } from "./client-store.ts";
import type { KeyValueStore } from "./store.ts";

/** What a lease needs of a store. */
type LeaseStore = Pick<KeyValueStore, "set" | "delete"> | Pick<ClientStore, "set" | "delete">;

/** The right of one holder to work on a key. It ends by itself after its time, so the lease of a dead holder blocks the others for a short time only. */
export interface Lease {
  /** Begins its time again. Resolves to false if another holder has it, undefined if the store is lost. */
  renew(): Promise<boolean | undefined>;
  /** Ends it at once. */
  release(): Promise<void>;
}

/**
 * Takes the lease of a key for `ttl` milliseconds. Resolves to undefined if another holder has it, and to "lost" while a
 * {@link ClientStore} is lost, because it is not known then.
 */
export async function takeLease(store: LeaseStore, key: string, ttl: number): Promise<Lease | "lost" | undefined> {
  const token = new TextEncoder().encode(crypto.randomUUID());
  const taken = await store.set(key, token, { ttl, expected: null });
  if (taken === undefined) return "lost";
  if (!taken) return undefined;
  return {
    renew: () => store.set(key, token, { ttl, expected: token }),
    release: async () => void (await store.delete(key, { expected: token })),
  };
}

/** Renews a lease of `ttl` milliseconds three times in its time. Returns the function that stops it; it does not release the lease. */
export function keepLease(lease: Pick<Lease, "renew">, ttl: number, clock: PartnerClock): () => void {
  let stopTimer: () => void;
  const wait = () => {
    stopTimer = clock.after(ttl / 3, async () => {
      // A slow store must not delay the next renewal.
      wait();
      // A lease that is not renewed ends by itself.
      await lease.renew().catch(() => undefined);
    });
  };
  wait();
  return () => stopTimer();
}
