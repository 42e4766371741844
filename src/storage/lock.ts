import { StorageError } from "../errors/storage.ts";
import { dateOf, longestSince, type Moment, momentOf, type PartnerClock } from "../util/clock.ts";
import { webCrypto } from "../util/runtime.ts";
import type { StorageExpectation, StorageSetOptions } from "./contract.ts";

/**
 * The right of one holder to work on a key, of all processes with the storage: compare-and-set gives it to one. It is renewed until it is
 * released, and ends by itself when its holder dies.
 */
export interface Lock {
  /**
   * Whether no other holder can have had the lock since it was taken: a process that was suspended may have lost it. The time counts from
   * before the storage was asked.
   */
  readonly isCertain: boolean;
  /** Throws a `StorageError` unless the lock is certain. */
  check(): void;
  /**
   * Changes after how many milliseconds the key is free when the holder dies. Resolves to true if the storage has done it for the holder of
   * the lock.
   */
  extend(lifetime: number): Promise<boolean | undefined>;
  /** Ends the right at once, unless the key holds something else by now. Never rejects: a lock that the storage keeps ends by itself. */
  release(): Promise<void>;
  /** Ends the right after so many milliseconds, without its holder. Never rejects. */
  leave(ms: number): Promise<void>;
}

/** A storage, or one whose changes resolve to undefined while it is lost. */
interface Lockable {
  get(key: string): Promise<Uint8Array | undefined>;
  set(key: string, value: Uint8Array, options: StorageSetOptions): Promise<boolean | undefined>;
  delete(key: string, options: StorageExpectation): Promise<boolean | undefined>;
}

/** What a key holds while it is locked. */
export interface LockHolder {
  /** What the holder uses the lock for. Empty by default. */
  readonly purpose: string;
  /** When the lock was taken, by the holder's clock. NaN if the value is not that of a lock. */
  readonly takenAt: number;
}

export interface LockOptions {
  /** What the lock is for, without a space. Other processes see it. */
  readonly purpose?: string;
  /** Whether to take the lock away from its holder. The holder's lock is no longer certain after its next renewal. */
  readonly mayTakeFrom?: (holder: LockHolder) => boolean;
}

function holderOf(value: Uint8Array): LockHolder {
  const [takenAt, , purpose = ""] = new TextDecoder().decode(value).split(" ");
  return { purpose, takenAt: Number(takenAt) };
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
  { purpose = "", mayTakeFrom = () => false }: LockOptions = {},
): Promise<Lock | "lost" | undefined> {
  const token = new TextEncoder().encode(`${dateOf(clock)} ${webCrypto().randomUUID()} ${purpose}`.trimEnd());
  /** When the latest request began that took or renewed the lock; undefined when another holder has it, or had it. */
  let held: Moment | undefined;
  let ttl = lifetime;
  const set = async (expected: Uint8Array | null) => {
    const asked = momentOf(clock);
    const done = await storage.set(key, token, { ttl, expected });
    if (done === false) held = undefined;
    else if (done && !(held !== undefined && held.at > asked.at)) held = asked;
    return done;
  };
  const free = () => storage.delete(key, { expected: token }).catch(() => undefined);
  let taken: boolean | undefined;
  try {
    taken = await set(null);
    if (taken === false) {
      const value = await storage.get(key);
      // A storage drops a damaged value when it is read.
      if (value === undefined || mayTakeFrom(holderOf(value))) taken = await set(value ?? null);
    }
  } catch (error) {
    // A slow storage can set it after this call has given up. Nobody would use it, and it would block the next call.
    void free();
    throw error;
  }
  if (taken === undefined) return "lost";
  if (!taken) return undefined;
  const stopRenewing = repeat(lifetime / 3, clock, () => set(token));
  // The storage's time passes while the machine is suspended.
  const isCertain = () => held !== undefined && longestSince(held, clock) < ttl;
  return {
    get isCertain() {
      return isCertain();
    },
    check: () => {
      if (!isCertain()) throw new StorageError({ message: "The lock in the storage ended before its work began." });
    },
    extend: (longer) => {
      ttl = longer;
      return set(token);
    },
    release: async () => {
      stopRenewing();
      await free();
    },
    leave: async (ms) => {
      stopRenewing();
      ttl = ms;
      await (ms > 0 ? set(token).catch(() => undefined) : free());
    },
  };
}

/**
 * Tries to take a lock every `interval` milliseconds, for `ms` milliseconds. Resolves to undefined if another holder had it the whole time.
 */
export async function waitForLock<Taken>(
  take: () => Promise<Taken | undefined>,
  clock: PartnerClock,
  ms: number,
  interval = 100,
): Promise<Taken | undefined> {
  const until = clock.now() + ms;
  for (;;) {
    const lock = await take();
    if (lock !== undefined || clock.now() + interval > until) return lock;
    await new Promise<void>((resolve) => void clock.after(interval, resolve));
  }
}

/** Repeats work that may fail or be slow, until the returned function is called. */
function repeat(every: number, clock: PartnerClock, work: () => Promise<unknown>): () => void {
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
