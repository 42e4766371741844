import * as z from "zod/mini";
import { DeadlineError } from "../errors/connection.ts";
import { StorageError } from "../errors/storage.ts";
import { ConfigurationError, type Issue } from "../errors/validation.ts";
import type { Doubt } from "../http/attempts.ts";
import type { Call } from "../http/call.ts";
import { type Created, lookUpOf, orUnknown, type Recovery, type Sending, tooOld } from "../http/create-once.ts";
import { lookOnce } from "../http/look-up.ts";
import type { SharedStorage } from "../http/send.ts";
import { check } from "../schemas/check.ts";
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

/*
 * How all processes with the same storage make a creation once (law 2). One process at a time works on it, under a lock. It notes the
 * creation before it sends the request, and then keeps the lock for as long as the service may work on the request, also if the process is
 * killed. Whoever takes the lock after that sees the note, and one look-up decides.
 */

/** A request is sent at most this many milliseconds after it was noted. The lock lasts for this time and `assumptions.processingTime`. */
const longestNote = 4_000;
/** A process that works on a creation has this many milliseconds to finish it. Then the others look it up, too: it may have died. */
const firstLook = 1_000;
/** How often a call takes the lock again that ended before its request was sent. */
const mostTurns = 5;
/** Milliseconds between two of these look-ups: as long as the call has waited, up to this. */
const longestLook = 8_000;
/** Milliseconds by which the clocks of two machines may differ. */
const clockDifference = 3_000;
/** Milliseconds by which a clock may be wrong. */
const wrongClock = 24 * 3_600_000;
/** Milliseconds for which a creation stays noted: a year. */
export const noteLife = 366 * 24 * 3_600_000;

/** What is noted of a creation. */
interface Note {
  readonly version: 1;
  /** When its request was first about to be sent, in milliseconds since 1970. */
  readonly sent: number;
  /** How many turns have sent it, or were about to. A turn that comes back late does not delete the note of the next one. */
  readonly turns: number;
  /** The SHA-256 of the content, in hexadecimal; empty if it is not known. */
  readonly content: string;
  /** The response; absent while it is not known whether the service has carried out the request. */
  readonly created?: { readonly status: number; readonly data?: Record<string, unknown> | undefined } | undefined;
}

const note = () =>
  open<Note>({
    version: z.literal(1),
    sent: z.number(),
    turns: z.number(),
    content: z.string(),
    created: z.optional(z.object({ status: z.number(), data: z.optional(z.looseObject({})) })),
  });

/** A creation that is made once. */
export interface OnceOnly<Data> {
  /** What the storage calls it: a kind and an identifier. */
  readonly kind: "order" | "claim" | "retraction";
  readonly identifier: string;
  readonly content: unknown;
  readonly recovery: Recovery<Data>;
  /** Whether it stays noted once it is made. Otherwise its note ends with it, so that an equal one can follow. */
  readonly isKept: boolean;
  /**
   * For a creation that is looked up by its content: what it has in common with those that a look-up could take for it. They are made one
   * after the other.
   */
  readonly oneByOne?: string | undefined;
  /** Lets the storage know what was made, so that no look-up takes it for another one. */
  readonly remember?: ((storage: ClientStorage, data: Data) => Promise<void>) | undefined;
  /** The error when its identifier is noted with other content. Default: none. */
  readonly refuse?: ((noted: Data | undefined) => Error) | undefined;
  /** Makes it. `sent` says when an earlier call sent it whose outcome that call could not find out. */
  readonly make: (sending: Sending, sent: Moment | undefined) => Promise<Created<Data>>;
}

/** A creation. */
export interface MadeOnce<Data> extends Created<Data> {
  /** Whether the storage knows it, with the same content or another one; undefined if it does not. */
  readonly known?: "same" | "other";
}

/** Makes a creation once, in all processes with the client's storage. Without a storage it is made at once. */
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
    if (!(turn instanceof Turn)) {
      // The process that made it may have died before this.
      await untilEnd(call, creation.remember?.(storage, turn.data));
      if (turn.known === "other" && creation.refuse) throw creation.refuse(turn.data);
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
      // Only the storage ends a turn with this error, before a request is sent.
      if (!(error instanceof StorageError)) throw error;
      // An earlier request of the call may be in doubt.
      if (count >= mostTurns) return orUnknown(call, creation.recovery, () => Promise.reject(error));
    }
  }
}

/** Throws if the identifier is noted with other content. */
function refuseOther<Data>({ refuse }: OnceOnly<Data>, { content }: Keys, note: Note | undefined): void {
  if (note && note.content !== content && note.content !== "" && refuse) throw refuse(undefined);
}

/** Waits for what is written of a turn, which never fails, but not longer than until the call ends. */
const untilEnd = (call: Call, writing: Promise<void> = Promise.resolve()): Promise<void> =>
  call.within(writing).catch(() => undefined);

/** The moment when another process sent something, or a little earlier. A time that is yet to come is that of a wrong clock. */
function momentAt({ core: { clock } }: Call, sent: number): Moment {
  const now = dateOf(clock);
  const date = sent > now + clockDifference ? now - wrongClock : sent - clockDifference;
  return { at: clock.now() - Math.max(0, now - date), date };
}

/** What the storage calls a creation, and the SHA-256 of its content. */
interface Keys {
  readonly noteKey: string;
  readonly lockKey: string;
  readonly content: string;
}

async function keysOf<Data>({ kind, identifier, oneByOne = identifier, content }: OnceOnly<Data>): Promise<Keys> {
  return {
    noteKey: `${kind}:${await keyOf(identifier)}`,
    lockKey: `${kind}-lease:${await keyOf(oneByOne)}`,
    content: hexOf(await sha256(canonicalJson(content))),
  };
}

/** Keys are printable ASCII of at most 300 characters. */
async function keyOf(identifier: string): Promise<string> {
  const text = identifier.isWellFormed() ? encodeURIComponent(identifier) : "";
  return text !== "" && text.length <= 200 ? text : `sha256:${hexOf(await sha256(JSON.stringify(identifier)))}`;
}

/** What one try to take the lock has come to: "lost" while the storage is lost. */
type Tried<Data> = Turn | MadeOnce<Data> | TakenLock | "lost";

/** Another process has the lock. */
interface TakenLock {
  /** The note of the creation, if that process works on it: undefined before it has sent the request. */
  readonly sent: Note | undefined;
  /** The bytes of the note. */
  readonly bytes: Uint8Array | undefined;
}

/** Reads the note of a creation. Unless it shows that it was made, tries to take its lock. */
async function tryTurn<Data>(
  call: Call<never, Data>,
  storage: ClientStorage,
  { noteKey, lockKey, content }: Keys,
): Promise<Tried<Data>> {
  const began = call.scope.elapsed();
  try {
    const bytes = await call.within(storage.find(noteKey));
    if (bytes === "lost") return bytes;
    const note = noteOf(bytes);
    if (note?.created !== undefined) {
      const { data, status } = note.created;
      const known = note.content === content ? "same" : "other";
      const response = new Response(null, { status });
      return { data: data as Data, response, existed: true, recovered: false, known };
    }
    let isForThis = false;
    const mayTakeFrom = ({ purpose }: LockHolder) => {
      isForThis = purpose === noteKey;
      return false;
    };
    const lock = await lockWithin(call, storage, lockKey, { purpose: noteKey, mayTakeFrom });
    if (lock === "lost") return lock;
    if (lock === undefined) return { sent: isForThis ? note : undefined, bytes };
    return new Turn(call, { storage, noteKey, content, lock, bytes, note });
  } catch (error) {
    // Only the storage was waited for. One that is healthy has answered by then.
    const ms = call.scope.elapsed() - began;
    throw error instanceof DeadlineError && ms >= reportedAfter ? lostError(ms) : error;
  }
}

/** Takes the lock of a key, at most until the call ends: one that comes after that is released. */
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
 * Takes the lock of a creation, or finds that it was made. A call waits while another process has the lock, and while the storage is lost,
 * unless the client goes on then: its turn has no lock. After a moment it also looks up what was sent: who has the lock may have died.
 */
async function takeTurn<Data>(
  call: Call<never, Data>,
  storage: ClientStorage,
  whenLost: SharedStorage["whenLost"],
  creation: OnceOnly<Data>,
  keys: Keys,
): Promise<Turn | MadeOnce<Data>> {
  const { scope } = call;
  const began = scope.elapsed();
  let nextLook = began + firstLook;
  const attempt = async (): Promise<Turn | MadeOnce<Data> | "lost" | undefined> => {
    const tried = await tryTurn(call, storage, keys);
    if (tried === "lost") {
      // A wait would not help, for example without the table in Postgres.
      if (storage.lostBy instanceof ConfigurationError) throw storage.lostBy;
      return whenLost === "continue" ? new Turn(call, { ...keys, storage }) : tried;
    }
    if (!("sent" in tried)) return tried;
    refuseOther(creation, keys, tried.sent);
    // What is not kept can follow an equal one, which a look-up would find.
    if (tried.sent === undefined || !creation.isKept || scope.elapsed() < nextLook) return undefined;
    const found = await lookAt(call, creation.recovery, tried.sent);
    nextLook = scope.elapsed() + Math.min(scope.elapsed() - began, longestLook);
    if (found === undefined) return undefined;
    // Whoever asks again must not look it up: this client knows the claim by then, and takes it for another one.
    const note = noteOfMade(tried.sent, creation.oneByOne === undefined ? "" : keys.content, found);
    await untilEnd(call, storage.keep(keys.noteKey, note, { ttl: noteLife, expected: tried.bytes }));
    return { ...found, existed: true, recovered: false };
  };
  const first = await attempt();
  return typeof first === "object" ? first : waitInCall(call, attempt, first);
}

/** Waits in a call for a lock that another process has, and for a lost storage: until the deadline, or 30 s without one. */
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
        core.observer.pausesFor(reason, id, name);
        trace.reason = reason;
      },
      longestLost: Number.isFinite(scope.remaining()) ? Number.POSITIVE_INFINITY : undefined,
    });
  });
}

/** Looks up what another process has sent. A failure shows nothing: the next look-up may succeed. */
const lookAt = <Data>(
  call: Call<never, Data>,
  recovery: Recovery<Data>,
  { sent }: Note,
): Promise<Created<Data> | undefined> =>
  lookOnce(call, lookUpOf(call, recovery, momentAt(call, sent)), { decides: false }).catch(() => undefined);

function noteOf(bytes: Uint8Array | undefined): Note | undefined {
  if (bytes === undefined) return undefined;
  const value = fromJson(bytes);
  if (check(note, value, []).ok) return value as Note;
  // Another version wrote it: the creation may have been sent.
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

/** What a turn begins with: its lock, and the note of an earlier call. */
interface TurnState extends Pick<Keys, "noteKey" | "content"> {
  readonly storage: ClientStorage;
  readonly lock?: Lock | undefined;
  readonly bytes?: Uint8Array | undefined;
  readonly note?: Note | undefined;
}

/** The right of a call to make a creation, and its note. Without a lock the storage is lost, and the call goes on as without a storage. */
class Turn {
  /** The note of an earlier call. */
  readonly note: Note | undefined;
  readonly #call: Call;
  readonly #storage: ClientStorage;
  readonly #key: string;
  readonly #lock: Lock | undefined;
  readonly #content: string;
  /** The bytes of the earlier note, or null. */
  readonly #before: Uint8Array | null;
  /** The bytes of the turn's own note. */
  #bytes: Uint8Array | undefined;
  #notedAt: Moment | undefined;

  constructor(call: Call, { storage, noteKey, content, lock, bytes, note }: TurnState) {
    this.#call = call;
    this.#storage = storage;
    this.#key = noteKey;
    this.#lock = lock;
    this.#before = bytes ?? null;
    this.note = note;
    this.#content = content;
  }

  /** How the creation is sent. */
  get sending(): Sending {
    return this.#lock === undefined ? {} : { note: () => this.#noteSending(), check: () => this.#check() };
  }

  /** Notes that the request is about to be sent, and keeps the lock for as long as the service may work on it. */
  async #noteSending(): Promise<void> {
    const { clock, processingTime } = this.#call.core;
    // The storage is not asked twice when only the look-up before the request is too old.
    if (this.#notedAt !== undefined && longestSince(this.#notedAt, clock) < longestNote / 2) return;
    const noted = momentOf(clock);
    const { sent, turns } = this.note ?? { sent: noted.date, turns: 0 };
    const bytes = this.#bytes ?? toJson({ version: 1, sent, turns: turns + 1, content: this.#content } satisfies Note);
    const [isNoted, isExtended] = await Promise.all([
      // The note may have changed between its reading and the lock: then another call takes another turn.
      this.#bytes !== undefined || this.#storage.set(this.#key, bytes, { expected: this.#before, ttl: noteLife }),
      this.#lock?.extend(processingTime + longestNote),
    ]);
    if (isNoted) this.#bytes = bytes;
    if (!isNoted || !isExtended)
      throw new StorageError({ message: "The storage did not take the note that it is about to be sent." });
    this.#notedAt = noted;
  }

  /** While the note is young, so is the longer lock. */
  #check(): void {
    if (this.#notedAt === undefined || longestSince(this.#notedAt, this.#call.core.clock) >= longestNote) throw tooOld;
  }

  /** Ends the turn of a creation that was made. What the storage does not take now is written when it is back. */
  async finish<Data>(made: Created<Data>, creation: OnceOnly<Data>): Promise<void> {
    const { data, existed, recovered } = made;
    const noted = this.#bytes ?? this.#before;
    if (creation.isKept) {
      const { sent = dateOf(this.#call.core.clock), turns = 0 } = this.note ?? {};
      // What a look-up by an identifier has found may have other content.
      const content = (existed || recovered) && creation.oneByOne === undefined ? "" : this.#content;
      await this.#storage.keep(this.#key, noteOfMade({ sent, turns }, content, made), { ttl: noteLife });
    } else if (noted !== null) {
      // A note that stayed would hide the next equal creation.
      await this.#storage.keep(this.#key, undefined, { expected: noted });
    }
    // After the note, whose look-up must find it as long as it is in doubt.
    await creation.remember?.(this.#storage, data);
    await this.#lock?.release();
  }

  /** Ends the turn of a creation that failed. If the service may still carry it out, the lock stays until then. */
  async leave(doubt: Doubt | undefined): Promise<void> {
    if (doubt !== undefined) {
      await this.#lock?.leave(Math.max(0, doubt.until - this.#call.core.clock.now()));
      return;
    }
    if (this.#before === null && this.#bytes !== undefined)
      await this.#storage.delete(this.#key, { expected: this.#bytes });
    await this.#lock?.release();
  }
}

/** The fault of an option that has an effect only with a storage. */
export const needsStorage = (option: string): Issue => ({
  path: [option],
  message: "needs the option `storage` of the client: without it, nothing is known of earlier calls",
});
