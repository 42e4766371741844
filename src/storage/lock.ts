import type { PartnerClock } from "../util/clock.ts";
import type { StoreExpectation, StoreSetOptions } from "./contract.ts";

/**
 * The right of one holder to work on a key, of all processes with the storage: compare-and-set gives it to one. It is renewed until it is
 * released, and ends by itself when its holder dies.
 */
export interface Lock {
  /** Ends the right at once, unless the key holds something else by now. Never rejects: a lock that the storage keeps ends by itself. */
  release(): Promise<void>;
}

/** A storage, or one whose changes resolve to undefined while it is lost. */
interface Lockable {
  set(key: string, value: Uint8Array, options: StoreSetOptions): Promise<boolean | undefined>;
  delete(key: string, options: StoreExpectation): Promise<boolean | undefined>;
}

/**
 * Takes the lock of a key. When its holder dies, the key is free after `lifetime` milliseconds. Resolves to undefined if another holder has
 * it, and to "lost" while the storage is lost, because it is not known then.
 */
export async function takeLock(
  storage: Lockable,
  key: string,
  lifetime: number,
  clock: PartnerClock,
): Promise<Lock | "lost" | undefined> {
  const token = new TextEncoder().encode(crypto.randomUUID());
  const taken = await storage.set(key, token, { ttl: lifetime, expected: null });
  if (taken === undefined) return "lost";
  if (!taken) return undefined;
  const renew = () => storage.set(key, token, { ttl: lifetime, expected: token });
  const stopRenewing = repeat(lifetime / 3, clock, renew);
  return {
    release: async () => {
      stopRenewing();
      await storage.delete(key, { expected: token }).catch(() => undefined);
    },
  };
}

/** Repeats work that may fail or be slow, until the returned function is called. */
export function repeat(every: number, clock: PartnerClock, work: () => Promise<unknown>): () => void {
  let stopTimer: () => void;
  const wait = () => {
    stopTimer = clock.after(every, () => {
      wait();
      work().catch(() => undefined);
    });
  };
  wait();
  return () => stopTimer();
}
