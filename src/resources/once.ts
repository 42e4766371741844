import * as z from "zod/mini";
import { DeadlineError } from "../errors/connection.ts";
import { StorageError } from "../errors/storage.ts";
import { ConfigurationError, type Issue } from "../errors/validation.ts";
import type { Doubt } from "../http/attempts.ts";
import type { Call } from "../http/call.ts";
import { type Created, lookUpOf, orUnknown, type Recovery, type Sending, tooOld } from "../http/create-once.ts";
import { lookUpOnce } from "../http/look-up.ts";
import type { SharedStorage } from "../http/send.ts";
import { matches } from "../schemas/check.ts";
import { open } from "../schemas/shape.ts";
import type { ClientStorage } from "../storage/client-storage.ts";
import {
  type Lock,
  type LockHolder,
  type LockOptions,
  lostError,
  reportedAfter,
  waitForLock,
} from "../storage/lock.ts";
import { fromJson, toJson } from "../storage/values.ts";
import { dateOf, longestSince, type Moment, momentOf } from "../util/clock.ts";
import { canonicalJson, hexOf, sha256 } from "../util/digest.ts";
import { nextTurn } from "../util/next-turn.ts";
import { webCrypto } from "../util/runtime.ts";

/*
 * How all processes that share a storage make a creation once. One process at a time works on it, under a lock. It writes a note before it
 * sends the request, and then holds the lock for as long as the service may process the request, even if the process is killed. The next
 * holder of the lock reads the note, and looks the creation up.
 */

/** Maximum milliseconds between the note and its request. The lock lasts for this time plus `assumptions.processingTime`. */
const maxNoteAge = 4_000;
/**
 * Milliseconds that a look-up by content reaches back before its note: the clocks may differ, and the service's times are inexact. A lock lasts
 * longer by this time, so that what an earlier creation has left in doubt is older than that.
 */
const maxReach = 6_000;
/** A call takes the lock at most this often: a lock can expire before the request is sent. */
const maxTurns = 5;
/** Milliseconds after which a waiting call looks the creation up itself, because the holder of the lock may have died. */
const firstLookUp = 1_000;
/** The pause between these look-ups is as long as the call has waited, up to this many milliseconds. */
const maxLookUpPause = 8_000;
/** Milliseconds by which the clocks of two machines may differ. */
const clockDifference = 3_000;
/** Milliseconds by which a clock may be wrong. */
const wrongClock = 24 * 3_600_000;
/** Milliseconds for which a note is kept: a year. */
export const noteLifetime = 366 * 24 * 3_600_000;

/** The note of a creation, as it is stored. */
interface Note {
  readonly version: 1;
  /** When the request was first about to be sent, in milliseconds since 1970. */
  readonly sent: number;
  /** The number of turns that have sent the request, or were about to. It makes each note unique, so a late turn cannot delete the next one's. */
  readonly turns: number;
  /** The SHA-256 of the content, in hexadecimal; empty if it is not known. */
  readonly content: string;
  /** The response; absent while the outcome is unknown. */
  readonly created?: { readonly status: number; readonly data?: Record<string, unknown> | undefined } | undefined;
}

const note = () =>
  open<Note>({
    version: z.literal(1),
    sent: z.number(),
    turns: z.number(),
    content: z.string(),
    created: z.optional(z.object({ status: z.number(), data: z.optional(z.object({})) })),
  });

/** A creation that is made once. */
export interface OnceOnly<Data> {
  /** The kind and the identifier make its key in the storage. */
  readonly kind: "order" | "claim" | "retraction";
  readonly identifier: string;
  readonly content: unknown;
  readonly recovery: Recovery<Data>;
  /** Whether the note is kept after the creation. Otherwise it is deleted, so that an equal creation can follow. */
  readonly isKept: boolean;
  /** For a creation that is looked up by its content: creations with the same value, which a look-up could confuse, are made one at a time. */
  readonly oneByOne?: string | undefined;
  /** Stores what was made, so that a later look-up does not take it for another creation. */
  readonly remember?: ((storage: ClientStorage, data: Data) => Promise<void>) | undefined;
  /** Makes the error for an identifier that was noted with other content. Default: no error. */
  readonly refuse?: ((noted: Data | undefined) => Error) | undefined;
  /** Makes it. `sent` says when an earlier call sent it without finding out its outcome. */
  readonly make: (sending: Sending, sent: Moment | undefined) => Promise<Created<Data>>;
}

/** The result of {@link once}. */
export interface MadeOnce<Data> extends Created<Data> {
  /** Whether its note has the same content or other content; undefined if the storage did not know it. */
  readonly known?: "same" | "other";
}

/** Makes a creation once in all processes that share the client's storage. Without a storage, it is made immediately. */
export async function once<Data>(
  call: Call<never, Data>,
  shared: SharedStorage | undefined,
  creation: OnceOnly<Data>,
): Promise<MadeOnce<Data>> {
  if (shared === undefined) return creation.make({}, undefined);
  const storage = await call.within(shared.open());
  const keys = await keysOf(creation);
  for (let count = 1; ; count += 1) {
    const take = () => takeTurn(call, storage, shared.whenLost, creation, keys);
    const turn = await orUnknown(call, creation.recovery, take);
    if (!(turn instanceof CreationTurn)) {
      // The process that made it may have died before it could do this.
      await untilEnd(call, creation.remember?.(storage, turn.data));
      if (turn.known === "other" && creation.refuse) throw creation.refuse(turn.data);
      // A storage in memory takes no turn of the event loop: timers would wait while a program repeats what it knows.
      await nextTurn();
      return turn;
    }
    try {
      const { note, sending } = turn;
      refuseOther(creation, keys, note);
      const sent = note && momentAt(call, note.sent);
      const made = await creation.make(sending, sent);
      await untilEnd(call, turn.finish(made, creation));
      return made;
    } catch (error) {
      await untilEnd(call, turn.leave(call.attempts.doubt));
      // This error comes from the storage, before a request is sent.
      if (!(error instanceof StorageError)) throw error;
      // An earlier request of the call may be in doubt.
      if (count >= maxTurns) return orUnknown(call, creation.recovery, () => Promise.reject(error));
    }
  }
}

/** Throws if the identifier is noted with other content. */
function refuseOther<Data>({ refuse }: OnceOnly<Data>, { content }: Keys, note: Note | undefined): void {
  if (note && note.content !== content && note.content !== "" && refuse) throw refuse(undefined);
}

/** Waits for a write to the storage, but only until the call ends. Never rejects. */
const untilEnd = (call: Call, writing: Promise<void> = Promise.resolve()): Promise<void> =>
  call.within(writing).catch(() => undefined);

/** The moment when another process sent a request, or a little earlier. A time in the future comes from a wrong clock. */
function momentAt({ core: { clock } }: Call, sent: number): Moment {
  const now = dateOf(clock);
  const date = sent > now + clockDifference ? now - wrongClock : sent - clockDifference;
  return { at: clock.now() - Math.max(0, now - date), date };
}

/** The keys of a creation in the storage, and the SHA-256 of its content. */
interface Keys {
  readonly noteKey: string;
  readonly lockKey: string;
  readonly content: string;
  /** Milliseconds for which the lock lasts after the service has processed the request. */
  readonly reach: number;
}

async function keysOf<Data>({ kind, identifier, oneByOne = identifier, content }: OnceOnly<Data>): Promise<Keys> {
  return {
    noteKey: `${kind}:${await keyOf(identifier)}`,
    lockKey: `${kind}-lease:${await keyOf(oneByOne)}`,
    content: hexOf(await sha256(canonicalJson(content))),
    reach: oneByOne === identifier ? 0 : maxReach,
  };
}

/** Makes a part of a key, which is printable ASCII of at most 300 characters. */
async function keyOf(identifier: string): Promise<string> {
  const text = identifier.isWellFormed() ? encodeURIComponent(identifier) : "";
  return text !== "" && text.length <= 200 ? text : `sha256:${hexOf(await sha256(JSON.stringify(identifier)))}`;
}

/** Takes the lock of a key. A lock that is granted after the call has ended is released. */
export async function lockWithin(
  call: Call,
  storage: ClientStorage,
  key: string,
  options?: LockOptions,
): Promise<Lock | "lost" | undefined> {
  const locking = storage.lock(key, options);
  try {
    return await call.within(locking);
  } catch (error) {
    locking.then(
      (late) => (typeof late === "object" ? late.release() : undefined),
      () => undefined,
    );
    throw error;
  }
}

/**
 * Takes the lock of a creation, or finds that the creation was made. It waits while another process has the lock, and while the storage is
 * lost. With `storageLost: "continue"`, a lost storage gives a turn without a lock. While it waits, it also looks up what the other process
 * has sent, because that process may have died.
 */
async function takeTurn<Data>(
  call: Call<never, Data>,
  storage: ClientStorage,
  whenLost: SharedStorage["whenLost"],
  creation: OnceOnly<Data>,
  keys: Keys,
): Promise<CreationTurn | MadeOnce<Data>> {
  const { scope } = call;
  const { noteKey, lockKey, content } = keys;
  const owner = webCrypto().randomUUID();
  const began = scope.elapsed();
  let nextLookUp = began + firstLookUp;
  /** Looks up now and then what the process that has the lock has sent. */
  const findSent = async (note: Note, bytes: Uint8Array | undefined): Promise<MadeOnce<Data> | undefined> => {
    refuseOther(creation, keys, note);
    // Without a kept note, a look-up could find an earlier, equal creation.
    if (!creation.isKept || scope.elapsed() < nextLookUp) return undefined;
    const look = lookUpOf(call, creation.recovery, momentAt(call, note.sent));
    // A failed look-up decides nothing.
    const found = await lookUpOnce(call, look, { decides: false }).catch(() => undefined);
    nextLookUp = scope.elapsed() + Math.min(scope.elapsed() - began, maxLookUpPause);
    if (found === undefined) return undefined;
    // The note saves the next call its look-up, in which this client would take the claim that it knows now for another one.
    const made = noteOfMade(note, creation.oneByOne === undefined ? "" : content, found);
    await untilEnd(call, storage.keep(noteKey, made, { ttl: noteLifetime, expected: bytes }));
    return { ...found, existed: true, recovered: false };
  };
  /** Since when the call has waited only for the storage. */
  let lostSince: number | undefined;
  const attempt = async (): Promise<CreationTurn | MadeOnce<Data> | "lost" | undefined> => {
    const since = lostSince ?? scope.elapsed();
    const orLost = (error: unknown) => {
      // A healthy storage would have responded by now.
      const ms = scope.elapsed() - since;
      throw error instanceof DeadlineError && ms >= reportedAfter ? lostError(ms) : error;
    };
    const read = await call.within(storage.find(noteKey)).catch(orLost);
    const bytes = read === "lost" ? undefined : read;
    const note = noteOf(bytes);
    if (note?.created !== undefined) {
      const { data, status } = note.created;
      const known = note.content === content ? "same" : "other";
      const response = new Response(null, { status });
      return { data: data as Data, response, existed: true, recovered: false, known };
    }
    let isForThis = false;
    // Only reads what the other process has locked it for.
    const mayTakeFrom = ({ purpose }: LockHolder) => {
      isForThis = purpose === noteKey;
      return false;
    };
    const options = { purpose: noteKey, owner, mayTakeFrom };
    const lock = read === "lost" ? read : await lockWithin(call, storage, lockKey, options).catch(orLost);
    lostSince = lock === "lost" ? since : undefined;
    if (lock === "lost") {
      // Waiting would not help, for example if the table does not exist in Postgres.
      if (storage.lostBy instanceof ConfigurationError) throw storage.lostBy;
      return whenLost === "continue" ? new CreationTurn(call, { ...keys, storage }) : lock;
    }
    if (lock !== undefined) return new CreationTurn(call, { ...keys, storage, lock, note, noteBytes: bytes });
    return note !== undefined && isForThis ? findSent(note, bytes) : undefined;
  };
  const first = await attempt();
  return typeof first === "object" ? first : waitInCall(call, attempt, first);
}

/** Waits for a lock that another process has, or for a lost storage, until the call's deadline. Without one, a storage may be lost for 30 s. */
export function waitInCall<Taken extends object>(
  call: Call,
  attempt: () => Promise<Taken | "lost" | undefined>,
  first: "lost" | undefined,
): Promise<Taken> {
  const { core, scope, id, name } = call;
  return call.step("queue", (trace) => {
    trace.outcome = trace.policy = "default";
    return waitForLock(attempt, first, {
      clock: scope.clock,
      sleep: (ms) => scope.hold<void>(({ resolve }) => scope.clock.after(ms, () => resolve())),
      report: (reason) => {
        core.observer.reportLockWait(reason, id, name);
        trace.reason = reason;
      },
      longestLost: Number.isFinite(scope.remaining()) ? Number.POSITIVE_INFINITY : undefined,
    });
  });
}

function noteOf(bytes: Uint8Array | undefined): Note | undefined {
  if (bytes === undefined) return undefined;
  const value = fromJson(bytes);
  if (matches(note, value)) return value;
  // Another version of the SDK wrote it: the creation may have been sent.
  return { version: 1, sent: 0, turns: 0, content: "" };
}

/** The note of a creation that was made. */
function noteOfMade<Data>(
  { sent, turns }: Pick<Note, "sent" | "turns">,
  content: string,
  { data, response }: Created<Data>,
): Uint8Array {
  const created = { status: response.status, data: data as Record<string, unknown> };
  return toJson({ version: 1, sent, turns, content, created } satisfies Note);
}

/** The start of a turn. */
interface TurnStart extends Keys {
  readonly storage: ClientStorage;
  /** Undefined if the client continues without its lost storage. */
  readonly lock?: Lock | undefined;
  /** The note of an earlier call, and its bytes. */
  readonly note?: Note | undefined;
  readonly noteBytes?: Uint8Array | undefined;
}

/** A call's turn to make a creation, with its lock and its note. */
class CreationTurn {
  readonly #call: Call;
  readonly #start: TurnStart;
  /** The bytes of the turn's own note. */
  #bytes: Uint8Array | undefined;
  #notedAt: Moment | undefined;

  constructor(call: Call, start: TurnStart) {
    this.#call = call;
    this.#start = start;
  }

  /** The note of an earlier call. */
  get note(): Note | undefined {
    return this.#start.note;
  }

  /** What happens before each request of the creation. */
  get sending(): Sending {
    return this.#start.lock === undefined ? {} : { note: () => this.#noteSending(), check: () => this.#check() };
  }

  /** Writes the note, and extends the lock to the time for which the service may process the request. */
  async #noteSending(): Promise<void> {
    const { clock, processingTime } = this.#call.core;
    // When only the look-up was too old and is repeated, the note is still young enough.
    if (this.#notedAt !== undefined && longestSince(this.#notedAt, clock) < maxNoteAge / 2) return;
    const noted = momentOf(clock);
    const { storage, noteKey, content, reach, lock, note, noteBytes = null } = this.#start;
    const { sent, turns } = note ?? { sent: noted.date, turns: 0 };
    const bytes = this.#bytes ?? toJson({ version: 1, sent, turns: turns + 1, content } satisfies Note);
    const [isNoted, isExtended] = await Promise.all([
      // If the note has changed since it was read, another call had a turn in between.
      this.#bytes !== undefined || storage.set(noteKey, bytes, { expected: noteBytes, ttl: noteLifetime }),
      lock?.extend(processingTime + maxNoteAge + reach),
    ]);
    if (isNoted) this.#bytes = bytes;
    if (!isNoted || !isExtended)
      throw new StorageError({ message: "The storage did not take the note that it is about to be sent." });
    this.#notedAt = noted;
  }

  /** Throws if the note, and with it the extended lock, has become too old to send the request. */
  #check(): void {
    if (this.#notedAt === undefined || longestSince(this.#notedAt, this.#call.core.clock) >= maxNoteAge) throw tooOld;
  }

  /** Ends the turn after the creation. What a lost storage does not take is written when it is back. */
  async finish<Data>(made: Created<Data>, creation: OnceOnly<Data>): Promise<void> {
    const { data, existed, recovered } = made;
    const { storage, noteKey, content, lock, note, noteBytes } = this.#start;
    const noted = this.#bytes ?? noteBytes;
    if (creation.isKept) {
      const { sent = dateOf(this.#call.core.clock), turns = 0 } = note ?? {};
      // A look-up by identifier may find a creation with other content.
      const known = (existed || recovered) && creation.oneByOne === undefined ? "" : content;
      await storage.keep(noteKey, noteOfMade({ sent, turns }, known, made), { ttl: noteLifetime });
    } else if (noted !== undefined) {
      // A note that stays would hide the next equal creation.
      await storage.keep(noteKey, undefined, { expected: noted });
    }
    // After the note: while the outcome is in doubt, a look-up must still find the creation.
    await creation.remember?.(storage, data);
    await lock?.release();
  }

  /** Ends the turn after a failure. While the service may still carry out the creation, the lock stays. */
  async leave(doubt: Doubt | undefined): Promise<void> {
    const { storage, noteKey, reach, lock, noteBytes } = this.#start;
    if (doubt !== undefined) {
      await lock?.leave(Math.max(0, doubt.until + reach - this.#call.core.clock.now()));
      return;
    }
    if (noteBytes === undefined && this.#bytes !== undefined) await storage.delete(noteKey, { expected: this.#bytes });
    await lock?.release();
  }
}

/** The fault of an option that needs a storage. */
export const needsStorage = (option: string): Issue => ({
  path: [option],
  message: "needs the option `storage` of the client: without it, nothing is known of earlier calls",
});
