import * as z from "zod/mini";
import { isReference, type OrderReference } from "../references/references.ts";
import { check } from "../schemas/check.ts";
import type { Schema } from "../schemas/shape.ts";
import type { KeyValueStorage } from "../storage/contract.ts";
import { type Lock, takeLock } from "../storage/lock.ts";
import { fromJson, toJson } from "../storage/values.ts";
import { dateOf, type PartnerClock } from "../util/clock.ts";
import { wordsOf } from "../util/foreign.ts";
import { webCrypto } from "../util/runtime.ts";
import { withTimeout } from "../util/with-timeout.ts";
import { OrderFollowerError } from "./errors.ts";
import { isClosed, mostAhead, orderState, type RememberedOrder, rememberedOrder } from "./order-state.ts";

/** What a key holds, with its bytes, which a change of the key expects. */
export interface Stored<Value> {
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
    /** The state that the latest call of `onChange` began with; absent once it has finished. */
    begun: z.optional(orderState()),
  });
export type OpenMark = z.infer<ReturnType<typeof openMark>>;

/** Everything that is stored of an order. */
export interface StoredOrder {
  readonly order: Stored<RememberedOrder>;
  readonly mark: Stored<OpenMark>;
}

/** Milliseconds that one operation of the storage may take. A client of Redis without a connection may keep a command for ever. */
const operationTimeout = 5_000;
/** Milliseconds after which the lock of a dead process ends. */
const lockLifetime = 5_000;
/** Milliseconds after which an order that a dead sweep was reading is free for another sweep. */
export const readingLifetime = 30_000;

const openPrefix = "follower:open:";
const orderKey = (reference: OrderReference) => `follower:order:${reference}`;
const openKey = (reference: OrderReference) => `${openPrefix}${reference}`;

/**
 * What a follower stores. Each order has a key with its state, which stays for a time after its completion. An open order also has a key
 * with its mark: a sweep reads these keys only, and so costs nothing for completed orders. While a change of an order may be handed over,
 * there is a key with its lock, and while a sweep reads it, a key with the lock of the sweep.
 *
 * Each look at an order sets another mark, and expects the one that it has loaded: another one says that another call has looked meanwhile.
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

  /** Reads the mark first: another call that changes the order after that changes the mark, too. */
  async load(reference: OrderReference): Promise<StoredOrder> {
    const mark = await this.mark(reference);
    const order = await this.#get(orderKey(reference), rememberedOrder);
    return { order, mark };
  }

  /** Sets the state of an order, unless another process has changed it. An order that is not open is forgotten after a time. */
  setOrder(reference: OrderReference, value: RememberedOrder, { bytes }: Stored<RememberedOrder>): Promise<boolean> {
    const ttl = isClosed(value) ? this.#keepFor : undefined;
    return this.#storage.set(orderKey(reference), toJson(value), { ttl, expected: bytes ?? null });
  }

  /** Sets the mark of an order if it is still the one `before`, and resolves to the new one. Otherwise it resolves to undefined. */
  async setMark(
    reference: OrderReference,
    fields: Omit<OpenMark, "v">,
    before: Stored<OpenMark>,
  ): Promise<Stored<OpenMark> | undefined> {
    const value: OpenMark = { v: 1, ...fields };
    // No two marks have the same bytes.
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
    // A storage may find a key twice.
    const references = new Set<OrderReference>();
    for (;;) {
      const next = await this.#use(() => keys.next());
      if (next.done) return references;
      const reference = next.value.slice(openPrefix.length);
      if (isReference("Order", reference)) references.add(reference);
    }
  }

  /** Locks an order for a hand-over. Resolves to undefined if another call has the lock. */
  lock(reference: OrderReference): Promise<Lock | undefined> {
    return this.#lock(`follower:lease:${reference}`, lockLifetime);
  }

  /**
   * Locks an order for the request of a sweep. Resolves to undefined if another sweep reads it. The lock of a process whose clock is far
   * ahead does not count: its value begins with the time of that clock.
   */
  async lockReading(reference: OrderReference): Promise<Lock | undefined> {
    const key = `follower:reading:${reference}`;
    const lock = await this.#lock(key, readingLifetime);
    if (lock !== undefined) return lock;
    const expected = await this.#storage.get(key);
    const takenAt = Number.parseFloat(new TextDecoder().decode(expected));
    if (!(takenAt > dateOf(this.#clock) + mostAhead)) return undefined;
    await this.#storage.delete(key, { expected });
    return this.#lock(key, readingLifetime);
  }

  async #lock(key: string, lifetime: number): Promise<Lock | undefined> {
    const lock = await takeLock(this.#storage, key, lifetime, this.#clock);
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
