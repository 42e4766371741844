import * as z from "zod/mini";
import { isReference, type OrderReference } from "../references/references.ts";
import { check } from "../schemas/check.ts";
import type { Schema } from "../schemas/shape.ts";
import type { KeyValueStorage } from "../storage/contract.ts";
import { type Lock, type LockHolder, type LockOptions, takeLock } from "../storage/lock.ts";
import { fromJson, toJson } from "../storage/values.ts";
import { dateOf, type PartnerClock } from "../util/clock.ts";
import { wordsOf } from "../util/foreign.ts";
import { webCrypto } from "../util/runtime.ts";
import { withTimeout } from "../util/with-timeout.ts";
import { OrderFollowerError } from "./errors.ts";
import { isClosed, maxClockSkew, orderState, type RememberedOrder, rememberedOrder } from "./order-state.ts";

/** What a key holds, with its bytes, which a change of the key expects. */
export interface Stored<Value> {
  /** Undefined if the key holds nothing. */
  readonly bytes: Uint8Array | undefined;
  /** Undefined if the key holds nothing, or what another version wrote. */
  readonly value: Value | undefined;
}

/** The mark of an open order. Sweeps check the orders that have one. */
const openMark = () =>
  z.object({
    v: z.literal(1),
    /** When the order was last checked; 0 if a sweep should check it in any case. */
    looked: z.number(),
    /** When the order was followed. Matters until the service has shown it. */
    since: z.optional(z.number()),
    /** What was passed to a handler that has not finished; absent once one has. */
    begun: z.optional(orderState()),
  });
export type OpenMark = z.infer<ReturnType<typeof openMark>>;

/** Everything that is stored of an order. */
export interface OrderRecords {
  readonly order: Stored<RememberedOrder>;
  readonly mark: Stored<OpenMark>;
}

/** The longest time for one operation of the storage, in milliseconds. A Redis client without a connection can keep a command for ever. */
const operationTimeout = 5_000;
/** Milliseconds after which the lock of a process that was killed expires. */
const lockLifetime = 5_000;
/** The purpose of a lock that a sweep holds while it reads an order. */
const sweeping = "sweep";

const openPrefix = "follower:open:";
const orderKey = (reference: OrderReference) => `follower:order:${reference}`;
const openKey = (reference: OrderReference) => `${openPrefix}${reference}`;

/**
 * What a follower stores of each order: its state, which stays for some time after completion; while the order is open, a mark; while a call
 * is working on it, a lock. Sweeps list the marks only, so completed orders cost them nothing.
 *
 * The lock keeps two calls from working on an order at the same time. A process that is suspended can lose its lock without noticing, so every
 * check also replaces the mark by compare-and-set. A mismatch means that another call has checked the order since.
 */
export class FollowerStorage {
  readonly #open: () => Promise<KeyValueStorage>;
  readonly #clock: PartnerClock;
  readonly #keepFor: number;
  readonly #storage: Pick<KeyValueStorage, "get" | "set" | "delete"> = {
    get: (key) => this.#use((storage) => storage.get(key)),
    set: (key, value, options) => this.#use((storage) => storage.set(key, value, options)),
    delete: (key, options) => this.#use((storage) => storage.delete(key, options)),
  };

  constructor(open: () => Promise<KeyValueStorage>, clock: PartnerClock, keepFor: number) {
    this.#open = open;
    this.#clock = clock;
    this.#keepFor = keepFor;
  }

  mark(reference: OrderReference): Promise<Stored<OpenMark>> {
    return this.#get(openKey(reference), openMark);
  }

  /** Reads the mark first. A call that changes the order after that also changes the mark, so it is noticed. */
  async load(reference: OrderReference): Promise<OrderRecords> {
    const mark = await this.mark(reference);
    const order = await this.#get(orderKey(reference), rememberedOrder);
    return { order, mark };
  }

  /** Sets the state of an order. A closed order expires after `keepFor`. Resolves to false if another process has changed it. */
  setOrder(reference: OrderReference, value: RememberedOrder, { bytes }: Stored<RememberedOrder>): Promise<boolean> {
    const ttl = isClosed(value) ? this.#keepFor : undefined;
    return this.#storage.set(orderKey(reference), toJson(value), { ttl, expected: bytes ?? null });
  }

  /** Replaces the mark of an order and resolves to the new one. Resolves to undefined if the mark is no longer `before`. */
  async setMark(
    reference: OrderReference,
    fields: Omit<OpenMark, "v">,
    before: Stored<OpenMark>,
  ): Promise<Stored<OpenMark> | undefined> {
    const value: OpenMark = { v: 1, ...fields };
    // The id makes each mark different, so compare-and-set also notices a mark with the same fields.
    const bytes = toJson({ ...value, id: webCrypto().randomUUID() });
    const isSet = await this.#storage.set(openKey(reference), bytes, { expected: before.bytes ?? null });
    return isSet ? { bytes, value } : undefined;
  }

  /** Deletes the mark of an order. Resolves to false if another call has changed it. */
  async deleteMark(reference: OrderReference, { bytes }: Stored<OpenMark>): Promise<boolean> {
    return bytes === undefined || this.#storage.delete(openKey(reference), { expected: bytes });
  }

  /** Reads the references of all open orders. */
  async openOrders(): Promise<ReadonlySet<OrderReference>> {
    const keys = await this.#use(async (storage) => storage.keys(openPrefix)[Symbol.asyncIterator]());
    // A storage may list a key twice.
    const references = new Set<OrderReference>();
    for (;;) {
      const next = await this.#use(() => keys.next());
      if (next.done) return references;
      const reference = next.value.slice(openPrefix.length);
      if (isReference("Order", reference)) references.add(reference);
    }
  }

  /** Locks an order. Takes the lock from a sweep that is only reading. Resolves to undefined if another call has the lock. */
  lock(reference: OrderReference): Promise<Lock | undefined> {
    return this.#lock(reference, { mayTakeFrom: (holder) => holder.purpose === sweeping || this.#isAhead(holder) });
  }

  /** Locks an order for the request of a sweep. An update may take this lock away. */
  lockForSweep(reference: OrderReference): Promise<Lock | undefined> {
    return this.#lock(reference, { purpose: sweeping, mayTakeFrom: (holder) => this.#isAhead(holder) });
  }

  /** True if the holder's clock is far ahead. In a storage that expires keys by that clock, its lock could last for years. */
  #isAhead({ takenAt }: LockHolder): boolean {
    return takenAt > dateOf(this.#clock) + maxClockSkew;
  }

  async #lock(reference: OrderReference, options: LockOptions): Promise<Lock | undefined> {
    const key = `follower:lease:${reference}`;
    const lock = await takeLock(this.#storage, key, lockLifetime, this.#clock, options);
    // Operations of a lost storage throw here, so a lock is never "lost".
    return lock === "lost" ? undefined : lock;
  }

  async #get<Value>(key: string, schema: Schema<Value>): Promise<Stored<Value>> {
    const bytes = await this.#storage.get(key);
    const checked = bytes && check(schema, fromJson(bytes), []);
    return { bytes, value: checked?.ok ? (checked.value as Value) : undefined };
  }

  async #use<Result>(work: (storage: KeyValueStorage) => Promise<Result>): Promise<Result> {
    const late = () => new Error(`no result within ${operationTimeout} ms`);
    try {
      return await withTimeout(this.#clock, operationTimeout, late, async () => work(await this.#open()));
    } catch (cause) {
      const message = `The storage of the follower failed: ${wordsOf(cause)}. No change is lost: repeat the call later.`;
      throw new OrderFollowerError({ fault: "storage", message, cause });
    }
  }
}
