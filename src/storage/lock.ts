import { DeadlineError } from "../errors/connection.ts";
import { StorageError } from "../errors/storage.ts";
import { dateOf, longestSince, type Moment, momentOf, type PartnerClock } from "../util/clock.ts";
import { webCrypto } from "../util/runtime.ts";
import type { StorageExpectation, StorageSetOptions } from "./contract.ts";

/** Milliseconds after which a key is free if the holder of its lock dies. */
export const lockTime = 10_000;

/**
 * The lock of a key, which one holder has among all processes with the storage: compare-and-set grants it. It is renewed until it is
 * released, and expires when its holder dies.
 */
export interface Lock {
  /**
   * Whether no other process can have had the lock since it was taken. A process that was suspended may have lost it. The time counts from
   * before the request to the storage.
   */
  readonly isCertain: boolean;
  /**
   * Renews the lock, and changes after how many milliseconds it expires without its holder. Resolves to true if the storage confirmed it for
   * this holder.
   */
  extend(lifetime: number): Promise<boolean | undefined>;
  /** Releases the lock unless another holder has it by now. Never rejects: a lock that stays in the storage expires. */
  release(): Promise<void>;
  /** Stops renewing the lock and lets it expire after this many milliseconds. Never rejects. */
  leave(ms: number): Promise<void>;
}

/** A storage, or one whose changes resolve to undefined while it is lost. */
interface Lockable {
  get(key: string): Promise<Uint8Array | undefined>;
  set(key: string, value: Uint8Array, options: StorageSetOptions): Promise<boolean | undefined>;
  delete(key: string, options: StorageExpectation): Promise<boolean | undefined>;
}

/** The value of a key while it is locked. */
export interface LockHolder {
  /** What the holder uses the lock for. Default: an empty string. */
  readonly purpose: string;
  /** Who took it. */
  readonly owner: string;
  /** When the lock was taken, by the holder's clock; NaN if the value is not that of a lock. */
  readonly takenAt: number;
}

export interface LockOptions {
  /** What the lock is for, without a space. Other processes see it. */
  readonly purpose?: string;
  /**
   * Who takes it. A slow storage can set a lock after its caller has given up: the same owner takes it over, and does not wait for it. Default:
   * another one for each call.
   */
  readonly owner?: string;
  /** Whether to take the lock away from its holder. The holder's lock is no longer certain after its next renewal. */
  readonly mayTakeFrom?: (holder: LockHolder) => boolean;
}

function holderOf(value: Uint8Array): LockHolder {
  const [takenAt, owner = "", purpose = ""] = new TextDecoder().decode(value).split(" ");
  return { purpose, owner, takenAt: Number(takenAt) };
}

/**
 * Takes the lock of a key, which expires `lifetime` milliseconds after its holder has died. Resolves to undefined if another holder has it,
 * and to "lost" while the storage is lost.
 */
export async function takeLock(
  storage: Lockable,
  key: string,
  lifetime: number,
  clock: PartnerClock,
  { purpose = "", owner = webCrypto().randomUUID(), mayTakeFrom = () => false }: LockOptions = {},
): Promise<Lock | "lost" | undefined> {
  const token = new TextEncoder().encode(`${dateOf(clock)} ${owner} ${purpose}`.trimEnd());
  /** When the latest request began that took or renewed the lock; undefined when another holder has it or had it. */
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
      const holder = value && holderOf(value);
      // A read deletes a damaged value, and then the key is free.
      if (holder === undefined || mayTakeFrom(holder) || holder.owner === owner) taken = await set(value ?? null);
    }
  } catch (error) {
    // A slow storage can set the lock after this call has given up. It would only block the next call.
    void free();
    throw error;
  }
  if (taken === undefined) return "lost";
  if (!taken) return undefined;
  const stopRenewing = repeat(lifetime / 3, clock, () => set(token));
  return {
    get isCertain() {
      // `longestSince` also counts the time of a suspend, in which the storage goes on.
      return held !== undefined && longestSince(held, clock) < ttl;
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

/** Throws a `StorageError` if the lock is not certain. Does nothing without a lock. */
export function assertCertain(lock: Lock | "lost" | undefined): void {
  if (typeof lock === "object" && !lock.isCertain)
    throw new StorageError({ message: "The lock in the storage ended before the request was sent." });
}

/** The error of a call that has waited for a lost storage. */
export const lostError = (ms: number): StorageError =>
  new StorageError({
    message: `The storage could not be reached for ${Math.round(ms)} ms, so it is not known whether another process has sent the request.`,
  });

/** Options of {@link waitForLock}. */
export interface LockWait {
  readonly clock: PartnerClock;
  /** Waits for this many milliseconds. If it rejects, the wait ends. Default: a timer of the clock. */
  readonly sleep?: ((ms: number) => Promise<void>) | undefined;
  /** Called when the wait becomes longer than a moment, and when its reason changes. */
  readonly report?: ((reason: "other-process" | "storage") => void) | undefined;
  /** Maximum milliseconds to wait for another holder, and the error after that. Default: no limit. */
  readonly limit?: { readonly ms: number; readonly late: () => Error } | undefined;
  /** Maximum milliseconds to wait for a lost storage. Default 30 000. */
  readonly longestLost?: number | undefined;
}

/** Milliseconds between two attempts. The pause doubles up to the longest. */
const minPause = 50;
const maxPause = 1_000;
/** A wait of this many milliseconds is reported. */
export const reportedAfter = 290;

/**
 * Waits for a lock after a first attempt did not get it. Repeats `attempt`, which resolves to undefined while another holder has the lock, and
 * to "lost" while the storage is lost.
 *
 * @param first The result of the first attempt.
 * @throws `StorageError` if the storage stays lost.
 */
export async function waitForLock<Taken extends object>(
  attempt: () => Promise<Taken | "lost" | undefined>,
  first: "lost" | undefined,
  { clock, sleep, report, limit, longestLost = 30_000 }: LockWait,
): Promise<Taken> {
  const wait = sleep ?? ((ms) => new Promise<void>((resolve) => void clock.after(ms, resolve)));
  const began = clock.now();
  let tried: Taken | "lost" | undefined = first;
  let reachedAt = began;
  let reported: "other-process" | "storage" | undefined;
  for (let pause = minPause; typeof tried !== "object"; pause = Math.min(2 * pause, maxPause)) {
    const isLost = tried === "lost";
    const now = clock.now();
    if (!isLost) reachedAt = now;
    const left = isLost ? reachedAt + longestLost - now : began + (limit?.ms ?? Number.POSITIVE_INFINITY) - now;
    if (left <= 0) throw isLost || limit === undefined ? lostError(now - reachedAt) : limit.late();
    const reason = isLost ? "storage" : "other-process";
    if (now - began >= reportedAfter && reason !== reported) {
      report?.(reason);
      reported = reason;
    }
    try {
      await wait(Math.min(pause, left));
    } catch (error) {
      throw isLost && error instanceof DeadlineError ? lostError(clock.now() - reachedAt) : error;
    }
    tried = await attempt();
  }
  return tried;
}

/** Repeats work, which may fail or be slow, until the returned function is called. */
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
