import * as z from "zod/mini";
import { isReference, type OrderReference } from "../references/references.ts";
import { check } from "../schemas/check.ts";
import type { Schema } from "../schemas/shape.ts";
import type { KeyValueStorage } from "../storage/contract.ts";
import { type Lock, takeLock } from "../storage/lock.ts";
import { fromJson, toJson } from "../storage/values.ts";
import type { PartnerClock } from "../util/clock.ts";
import { wordsOf } from "../util/foreign.ts";
import { withTimeout } from "../util/with-timeout.ts";
import { OrderFollowerError } from "./errors.ts";
import { isClosed, orderState, type RememberedOrder, rememberedOrder } from "./order-state.ts";

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
    /** The sweep that reads the order, and when it began. Its name makes the bytes of the mark unique. */
    reading: z.optional(z.object({ by: z.string(), at: z.number() })),
    /** The state that the latest call of `onChange` began with; absent once it has finished. */
    begun: z.optional(orderState()),
  });
export type OpenMark = z.infer<ReturnType<typeof openMark>>;

type MarkFields = Omit<OpenMark, "v">;

/** A mark with the bytes that its key holds when it is set. */
export function heldMark(fields: MarkFields): { readonly bytes: Uint8Array; readonly value: OpenMark } {
  const value: OpenMark = { v: 1, ...fields };
  return { bytes: toJson(value), value };
}

/** Everything that is stored of an order. */
export interface OrderInStorage {
  readonly order: Held<RememberedOrder>;
  readonly mark: Held<OpenMark>;
}

/** Milliseconds that one operation of the storage may take. A client of Redis without a connection may keep a command for ever. */
const operationTimeout = 5_000;
/** Milliseconds after which the lock of a dead process ends. */
const lockLifetime = 5_000;

const openPrefix = "follower:open:";
const orderKey = (reference: OrderReference) => `follower:order:${reference}`;
const openKey = (reference: OrderReference) => `${openPrefix}${reference}`;
const lockKey = (reference: OrderReference) => `follower:lease:${reference}`;

/**
 * What a follower stores. Each order has a key with its state, which stays for a time after its completion. An open order also has a key
 * with its mark: a sweep reads these keys only, and so costs nothing for completed orders. While a change of an order may be handed over,
 * there is a key with its lock.
 */
export class FollowerStorage {
  readonly #open: () => Promise<KeyValueStorage>;
  readonly #clock: PartnerClock;
  readonly #keepFor: number;

  constructor(open: () => Promise<KeyValueStorage>, clock: PartnerClock, keepFor: number) {
    this.#open = open;
    this.#clock = clock;
    this.#keepFor = keepFor;
  }

  order(reference: OrderReference): Promise<Held<RememberedOrder>> {
    return this.#get(orderKey(reference), rememberedOrder);
  }

  mark(reference: OrderReference): Promise<Held<OpenMark>> {
    return this.#get(openKey(reference), openMark);
  }

  async load(reference: OrderReference): Promise<OrderInStorage> {
    const [order, mark] = await Promise.all([this.order(reference), this.mark(reference)]);
    return { order, mark };
  }

  /** Sets the state of an order, unless another process has changed it. An order that is not open is forgotten after a time. */
  setOrder(reference: OrderReference, value: RememberedOrder, { bytes }: Held<RememberedOrder>): Promise<boolean> {
    const ttl = isClosed(value) ? this.#keepFor : undefined;
    return this.#use((storage) => storage.set(orderKey(reference), toJson(value), { ttl, expected: bytes ?? null }));
  }

  /** Sets the mark of an order, with `held` only if it is still the same. Resolves to false if it is another one. */
  setMark(reference: OrderReference, fields: MarkFields, held?: Held<OpenMark>): Promise<boolean> {
    const { bytes } = heldMark(fields);
    const expected = held && (held.bytes ?? null);
    return this.#use((storage) => storage.set(openKey(reference), bytes, { expected }));
  }

  /** Deletes the mark of an order, with `held` only if it is still the same. Resolves to false if it is another one. */
  async deleteMark(reference: OrderReference, held?: Held<OpenMark>): Promise<boolean> {
    if (held !== undefined && held.bytes === undefined) return true;
    const isDeleted = await this.#use((storage) => storage.delete(openKey(reference), { expected: held?.bytes }));
    return isDeleted || held === undefined;
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

  /** Locks an order. Resolves to undefined if another call has the lock. */
  async lock(reference: OrderReference): Promise<Lock | undefined> {
    const storage = {
      get: (key: string) => this.#use((storage) => storage.get(key)),
      set: (...change: Parameters<KeyValueStorage["set"]>) => this.#use((storage) => storage.set(...change)),
      delete: (...change: Parameters<KeyValueStorage["delete"]>) => this.#use((storage) => storage.delete(...change)),
    };
    const lock = await takeLock(storage, lockKey(reference), lockLifetime, this.#clock);
    return lock === "lost" ? undefined : lock;
  }

  async #get<Value>(key: string, schema: Schema<Value>): Promise<Held<Value>> {
    const bytes = await this.#use((storage) => storage.get(key));
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
