import * as z from "zod/mini";
import { isReference, type OrderReference } from "../references/references.ts";
import { check } from "../schemas/check.ts";
import type { Schema } from "../schemas/shape.ts";
import type { KeyValueStore } from "../storage/contract.ts";
import { repeat } from "../storage/lock.ts";
import { fromJson, toJson } from "../storage/values.ts";
import type { PartnerClock } from "../util/clock.ts";
import { wordsOf } from "../util/foreign.ts";
import { withTimeout } from "../util/with-timeout.ts";
import { OrderFollowerError } from "./errors.ts";
import { isClosed, lines, type RememberedOrder, rememberedOrder } from "./order-state.ts";

/** What a key holds, with its bytes, which a change of the key expects. */
export interface Held<Value> {
  /** Undefined if the key holds nothing. */
  readonly bytes: Uint8Array | undefined;
  /** Undefined if the key holds nothing, or what another version wrote. */
  readonly value: Value | undefined;
}

/** The mark of an open order: its key exists while sweeps look at the order. */
const openMark = () =>
  z.object({
    v: z.literal(1),
    /** When the order was last read; 0 if it never was. */
    looked: z.number(),
    /** When it was followed; absent once it was read. */
    since: z.optional(z.number()),
    /** The totals that the latest call of `onChange` began with. They are absent once it has finished. */
    begun: z.optional(lines()),
  });
type OpenMark = z.infer<ReturnType<typeof openMark>>;

/** Everything that is stored of an order. */
export interface StoredOrder {
  readonly order: Held<RememberedOrder>;
  readonly mark: Held<OpenMark>;
}

/** Milliseconds that one operation of the store may take. A client of Redis without a connection may keep a command for ever. */
const operationTimeout = 5_000;

const openPrefix = "follower:open:";
const orderKey = (reference: OrderReference) => `follower:order:${reference}`;
const openKey = (reference: OrderReference) => `${openPrefix}${reference}`;
const lockKey = (reference: OrderReference) => `follower:lease:${reference}`;

/**
 * What a follower stores. Each order has a key with its state, which stays for a time after its completion. An open order also has a key
 * with its mark: a sweep reads these keys only, and so costs nothing for completed orders. While a call works on an order, there is a key
 * with its lock.
 */
export class FollowerStorage {
  readonly #store: () => Promise<KeyValueStore>;
  readonly #clock: PartnerClock;
  readonly #forgetAfter: number;

  constructor(store: () => Promise<KeyValueStore>, clock: PartnerClock, forgetAfter: number) {
    this.#store = store;
    this.#clock = clock;
    this.#forgetAfter = forgetAfter;
  }

  async load(reference: OrderReference): Promise<StoredOrder> {
    const [order, mark] = await Promise.all([this.#get(orderKey(reference), rememberedOrder), this.mark(reference)]);
    return { order, mark };
  }

  /** Sets the state of an order, unless another process has changed it. An order that is not open is forgotten after a time. */
  setOrder(reference: OrderReference, value: RememberedOrder, bytes: Uint8Array | undefined): Promise<boolean> {
    const ttl = isClosed(value) ? this.#forgetAfter : undefined;
    return this.#use((store) => store.set(orderKey(reference), toJson(value), { ttl, expected: bytes ?? null }));
  }

  mark(reference: OrderReference): Promise<Held<OpenMark>> {
    return this.#get(openKey(reference), openMark);
  }

  /** Sets the mark of an order. With `held`, only if the mark is still the same. */
  setMark(
    reference: OrderReference,
    value: Omit<OpenMark, "v">,
    held?: Pick<Held<OpenMark>, "bytes">,
  ): Promise<boolean> {
    const expected = held === undefined ? undefined : (held.bytes ?? null);
    return this.#use((store) => store.set(openKey(reference), toJson({ v: 1, ...value }), { expected }));
  }

  deleteMark(reference: OrderReference): Promise<boolean> {
    return this.#use((store) => store.delete(openKey(reference)));
  }

  /** Reads the references of all open orders. */
  async openOrders(): Promise<ReadonlySet<OrderReference>> {
    const keys = await this.#use(async (store) => store.keys(openPrefix)[Symbol.asyncIterator]());
    // A store may find a key twice.
    const references = new Set<OrderReference>();
    for (;;) {
      const next = await this.#use(() => keys.next());
      if (next.done) return references;
      const reference = next.value.slice(openPrefix.length);
      if (isReference("Order", reference)) references.add(reference);
    }
  }

  /** Locks an order. Resolves to undefined if another call has it. */
  async lock(reference: OrderReference, purpose: LockPurpose): Promise<OrderLock | undefined> {
    const lock = new OrderLock(lockKey(reference), purpose, this.#clock, (work) => this.#use(work));
    return (await lock.take()) ? lock : undefined;
  }

  async #get<Value>(key: string, schema: Schema<Value>): Promise<Held<Value>> {
    const bytes = await this.#use((store) => store.get(key));
    const checked = bytes && check(schema, fromJson(bytes), []);
    return { bytes, value: checked?.ok ? (checked.value as Value) : undefined };
  }

  async #use<Result>(work: (store: KeyValueStore) => Promise<Result>): Promise<Result> {
    const late = () => new Error(`no result within ${operationTimeout} ms`);
    try {
      return await withTimeout(this.#clock, operationTimeout, late, async () => work(await this.#store()));
    } catch (cause) {
      const message = `The store of the follower failed: ${wordsOf(cause)}. No change is lost: repeat the call later.`;
      throw new OrderFollowerError({ fault: "store", message, cause });
    }
  }
}

/** Why an order is locked. */
export type LockPurpose = "reading" | "handing over";

/** Milliseconds after which the store ends the lock of a dead process. A lock for handing over is renewed, one for reading is not. */
export const lockLifetimes = { reading: 30_000, "handing over": 5_000 } satisfies Record<LockPurpose, number>;

const tokenFor = (purpose: LockPurpose): Uint8Array => new TextEncoder().encode(`${purpose} ${crypto.randomUUID()}`);
const isForReading = (token: Uint8Array): boolean => new TextDecoder().decode(token).startsWith("reading");

/**
 * The right of one call to work on an order, of all processes with the store: a key that it has set and that ends by itself. A sweep locks
 * an order for reading, because its request can wait long. A call that hands over takes such a lock over, and the sweep notices when it
 * makes its own lock one for handing over: its response may be outdated then.
 *
 * A process that loses a lock, because it was suspended or the store was slow, does no harm: it cannot change the state that another one
 * has stored.
 */
export class OrderLock {
  readonly #key: string;
  readonly #clock: PartnerClock;
  readonly #use: <Result>(work: (store: KeyValueStore) => Promise<Result>) => Promise<Result>;
  #purpose: LockPurpose;
  #token: Uint8Array;
  /** The lock certainly holds until then. */
  #until = 0;
  #stopRenewing: () => void = () => undefined;

  constructor(
    key: string,
    purpose: LockPurpose,
    clock: PartnerClock,
    use: <Result>(work: (store: KeyValueStore) => Promise<Result>) => Promise<Result>,
  ) {
    this.#key = key;
    this.#purpose = purpose;
    this.#clock = clock;
    this.#use = use;
    this.#token = tokenFor(purpose);
  }

  /** Resolves to false if another call has the lock. */
  async take(): Promise<boolean> {
    let waiting = true;
    const taking = this.#use(async (store) => {
      const taken = (await this.#set(store, null)) || (await this.#takeOver(store));
      // A slow store can set it after the caller has given up. Nobody would use it, and it would block the next call.
      if (taken && !waiting) await store.delete(this.#key, { expected: this.#token });
      return taken;
    });
    const taken = await taking.finally(() => {
      waiting = false;
    });
    if (taken && this.#purpose === "handing over") this.#renew();
    return taken;
  }

  /** Whether no other call can have had the lock since it was taken. */
  get isCertain(): boolean {
    return this.#clock.now() < this.#until;
  }

  /** Makes a lock for reading one for handing over. Resolves to false if it has ended: then another call may have handed over. */
  async upgrade(): Promise<boolean> {
    const held = this.#token;
    this.#purpose = "handing over";
    this.#token = tokenFor(this.#purpose);
    this.#until = 0;
    const upgraded = await this.#use((store) => this.#set(store, held));
    if (upgraded) this.#renew();
    return upgraded;
  }

  /** Never rejects: a lock that the store keeps ends by itself. */
  async release(): Promise<void> {
    this.#stopRenewing();
    await this.#use((store) => store.delete(this.#key, { expected: this.#token })).catch(() => undefined);
  }

  async #set(store: KeyValueStore, expected: Uint8Array | null): Promise<boolean> {
    const ttl = lockLifetimes[this.#purpose];
    const until = this.#clock.now() + ttl;
    const set = await store.set(this.#key, this.#token, { ttl, expected });
    if (set) this.#until = Math.max(this.#until, until);
    return set;
  }

  async #takeOver(store: KeyValueStore): Promise<boolean> {
    // The store drops a damaged value when it is read.
    const held = await store.get(this.#key);
    if (held === undefined) return this.#set(store, null);
    return this.#purpose === "handing over" && isForReading(held) && this.#set(store, held);
  }

  #renew(): void {
    const renew = () => this.#use((store) => this.#set(store, this.#token));
    this.#stopRenewing = repeat(lockLifetimes["handing over"] / 3, this.#clock, renew);
  }
}
