import * as z from "zod/mini";
import { isReference, type OrderReference } from "../references/references.ts";
import { check } from "../schemas/check.ts";
import type { Schema } from "../schemas/shape.ts";
import type { KeyValueStore } from "../storage/contract.ts";
import { fromJson, toJson } from "../storage/values.ts";
import type { PartnerClock } from "../util/clock.ts";
import { wordsOf } from "../util/foreign.ts";
import { OrderFollowerError } from "./errors.ts";
import { type LockParts, OrderLock, type Purpose } from "./lock.ts";
import { isClosed, type Lines, lines, type Remembered, remembered } from "./order-state.ts";

/** A value with its bytes, which a later change of the key expects. */
export interface Held<Value> {
  /** Undefined if the key holds nothing. */
  readonly bytes: Uint8Array | undefined;
  /** Undefined if the key holds nothing, or what another version wrote. */
  readonly value: Value | undefined;
}

/** The mark of an open order: its key exists while sweeps look at the order. */
export interface Mark {
  readonly v: 1;
  /** When the order was last read; 0 if it never was. */
  readonly looked: number;
  /** When it was followed; absent once it was read. */
  readonly since?: number | undefined;
  /** The totals that the latest hand-over began with. They are absent once it has finished. */
  readonly begun?: Lines | undefined;
}

const mark = () =>
  z.object({
    v: z.literal(1),
    looked: z.number(),
    since: z.optional(z.number()),
    begun: z.optional(lines()),
  });

/** Milliseconds that one operation of the store may take. */
const patience = 5_000;

const openPrefix = "follower:open:";
const orderKey = (reference: OrderReference) => `follower:order:${reference}`;
const openKey = (reference: OrderReference) => `${openPrefix}${reference}`;
const lockKey = (reference: OrderReference) => `follower:lease:${reference}`;

/**
 * What is remembered of the followed orders. Each order has a key with its state, which stays for a time after its completion. An open
 * order also has a key with its mark: a sweep reads these keys only, and so costs nothing for completed orders.
 */
export class Records {
  readonly #store: () => Promise<KeyValueStore>;
  readonly #clock: PartnerClock;
  readonly #forgetAfter: number;

  constructor(store: () => Promise<KeyValueStore>, clock: PartnerClock, forgetAfter: number) {
    this.#store = store;
    this.#clock = clock;
    this.#forgetAfter = forgetAfter;
  }

  order(reference: OrderReference): Promise<Held<Remembered>> {
    return this.#get(orderKey(reference), remembered);
  }

  /** Sets the state of an order, unless another process has changed it. An order that is not open is forgotten after a time. */
  setOrder(reference: OrderReference, value: Remembered, { bytes }: Held<Remembered>): Promise<boolean> {
    const ttl = isClosed(value) ? this.#forgetAfter : undefined;
    return this.#use((store) => store.set(orderKey(reference), toJson(value), { ttl, expected: bytes ?? null }));
  }

  mark(reference: OrderReference): Promise<Held<Mark>> {
    return this.#get(openKey(reference), mark);
  }

  /** Sets the mark of an order. With `held`, only if the mark is still the same. */
  async setMark(reference: OrderReference, value: Omit<Mark, "v">, held?: Pick<Held<Mark>, "bytes">): Promise<boolean> {
    const expected = held === undefined ? undefined : (held.bytes ?? null);
    return this.#use((store) => store.set(openKey(reference), toJson({ v: 1, ...value }), { expected }));
  }

  async deleteMark(reference: OrderReference): Promise<void> {
    await this.#use((store) => store.delete(openKey(reference)));
  }

  /** Locks an order. Resolves to undefined if another call has it. */
  lock(reference: OrderReference, purpose: Purpose): Promise<OrderLock | undefined> {
    const use: LockParts["use"] = (work) => this.#use(work);
    return OrderLock.take({ key: lockKey(reference), purpose, clock: this.#clock, use });
  }

  /** Reads the references of all open orders. */
  async open(): Promise<ReadonlySet<OrderReference>> {
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

  async #get<Value>(key: string, schema: Schema<Value>): Promise<Held<Value>> {
    const bytes = await this.#use((store) => store.get(key));
    const checked = bytes && check(schema, fromJson(bytes), []);
    return { bytes, value: checked?.ok ? (checked.value as Value) : undefined };
  }

  async #use<Result>(work: (store: KeyValueStore) => Promise<Result>): Promise<Result> {
    try {
      return await this.#inTime(this.#store().then(work));
    } catch (cause) {
      const message = `The store of the follower failed: ${wordsOf(cause)}. No change is lost: repeat the call later.`;
      throw new OrderFollowerError({ fault: "store", message, cause });
    }
  }

  /** A client of Redis without a connection may keep a command for ever. */
  #inTime<Result>(work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const stop = this.#clock.after(patience, () => reject(new Error(`no result within ${patience} ms`)));
      work.finally(stop).then(resolve, reject);
    });
  }
}
