import * as fc from "fast-check";
import { memoryStorage, type Order, type OrderReference } from "pod-partner";
import { createOrderFollower, type OrderChanged, type OrderFollower } from "pod-partner/callbacks";
import { createManualClock } from "pod-partner/testing";
import type { FollowedOrderReader } from "../../../src/callbacks/options.ts";
import type { KeyValueStorage } from "../../../src/storage/contract.ts";
import { first, newOrder, notFound, second } from "./support.ts";

/** An order of the model: each change of the service makes a new version. */
export type Versioned = Order & { readonly version: number };

/** What a handler received when it was called. */
export interface HandedOver {
  readonly reference: OrderReference;
  readonly order: Versioned;
  readonly changes: OrderChanged["changes"];
  /** Whether the handler has finished. */
  finished: boolean;
}

interface Process {
  readonly follower: OrderFollower;
  alive: boolean;
}

const references = [first, second];
const never = () => new Promise<never>(() => undefined);

export const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("ship"), order: fc.nat(1), line: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("cancel"), order: fc.nat(1), line: fc.nat(1) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("hold"), order: fc.nat(1), reason: fc.constantFrom("a", "b") }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("release"), order: fc.nat(1) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("callback"), order: fc.nat(1), process: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("sweep"), process: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash"), process: fc.nat(1) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("failHandlers"), count: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("staleRead"), back: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.constantFrom(1, 40, 400, 3_000, 8_000) }) },
);

export interface Step {
  readonly do: string;
  readonly order?: number;
  readonly line?: number;
  readonly reason?: string;
  readonly process?: number;
  readonly count?: number;
  readonly back?: number;
  readonly ms?: number;
}

/** Two processes with one storage and one service. Requests and handlers take time, so that steps overlap. */
export class Model {
  readonly clock = createManualClock();
  readonly storage = memoryStorage({ clock: this.clock });
  readonly handed: HandedOver[] = [];
  readonly #versions = new Map<OrderReference, Versioned[]>(
    references.map((reference) => [reference, [{ ...newOrder(reference), version: 0 }]]),
  );
  readonly #processes: Process[] = [];
  readonly #delays: readonly number[];
  #delay = 0;
  #failing = 0;
  #staleReads: number[] = [];

  constructor(delays: readonly number[]) {
    this.#delays = delays;
    this.#processes.push(this.#start(), this.#start());
  }

  newest(reference: OrderReference): Versioned {
    return this.#versions.get(reference)?.at(-1) ?? { ...newOrder(reference), version: 0 };
  }

  async run({ do: action, order = 0, line = 0, reason = "", process = 0, count = 0, back = 0, ms = 0 }: Step) {
    const reference = references[order] ?? first;
    const { follower } = this.#processes[process] ?? this.#start();
    if (action === "ship") this.#add(reference, line, { shippedQuantity: 1 });
    if (action === "cancel") this.#add(reference, line, { canceledQuantity: 1 });
    if (action === "hold") this.#change(reference, { onHold: { reason } });
    if (action === "release") this.#change(reference, { onHold: null });
    if (action === "callback") void follower.update(reference).catch(() => undefined);
    if (action === "sweep") void follower.reconcile().catch(() => undefined);
    if (action === "crash") this.#crash(process);
    if (action === "failHandlers") this.#failing = count;
    if (action === "staleRead") this.#staleReads.push(back);
    if (action === "wait") await this.clock.advance(ms);
  }

  /** Follows all orders, as a partner does after placing them. */
  async follow(): Promise<void> {
    for (const reference of references) await this.#processes[0]?.follower.follow(reference);
  }

  /** Ends all disturbances, and lets one last process sweep until nothing is new. */
  async end(): Promise<void> {
    await this.clock.advance(120_000);
    for (const index of this.#processes.keys()) this.#crash(index);
    this.#failing = 0;
    this.#staleReads = [];
    await this.clock.advance(60_000);
    const last = this.#start();
    for (let round = 0; round < 2; round += 1) {
      const sweep = last.follower.reconcile();
      await this.clock.advance(60_000);
      await sweep;
    }
  }

  #add(reference: OrderReference, at: number, more: { shippedQuantity?: number; canceledQuantity?: number }): void {
    const { orderlines } = this.newest(reference);
    const line = orderlines[at];
    if (line === undefined || line.shippedQuantity + line.canceledQuantity >= line.quantity) return;
    const { shippedQuantity = 0, canceledQuantity = 0 } = more;
    const changed = {
      ...line,
      shippedQuantity: line.shippedQuantity + shippedQuantity,
      canceledQuantity: line.canceledQuantity + canceledQuantity,
    };
    this.#change(reference, { orderlines: orderlines.map((one) => (one === line ? changed : one)) });
  }

  #change(reference: OrderReference, changes: Partial<Order>): void {
    const newest = this.newest(reference);
    this.#versions.get(reference)?.push({ ...newest, ...changes, version: newest.version + 1 });
  }

  #crash(index: number): void {
    const process = this.#processes[index];
    if (process !== undefined) process.alive = false;
    this.#processes[index] = this.#start();
  }

  #pause(): Promise<void> {
    const ms = this.#delays[this.#delay++ % this.#delays.length] ?? 0;
    return new Promise((resolve) => void this.clock.after(ms, resolve));
  }

  /** A process. After a crash, no code of it continues: its storage, its service, its timers and its handlers never respond. */
  #start(): Process {
    const { clock, storage } = this;
    const whileAlive = async <T>(work: () => Promise<T>): Promise<T> => {
      if (!process.alive) return never();
      const result = await work();
      return process.alive ? result : never();
    };
    const ownStore: KeyValueStorage = {
      kind: "memory",
      get: (key) => whileAlive(() => storage.get(key)),
      set: (key, value, options) => whileAlive(() => storage.set(key, value, options)),
      delete: (key, options) => whileAlive(() => storage.delete(key, options)),
      keys: (prefix) => storage.keys(prefix),
    };
    const follower = createOrderFollower({
      partner: this.#client(whileAlive),
      storage: ownStore,
      clock: { now: clock.now, after: (ms, callback) => clock.after(ms, () => process.alive && callback()) },
      onChange: (change) => whileAlive(() => this.#handle(change)),
      timeout: 20_000,
    });
    const process: Process = { follower, alive: true };
    return process;
  }

  #client(whileAlive: <T>(work: () => Promise<T>) => Promise<T>): FollowedOrderReader {
    const respond = async (reference: OrderReference) => {
      await this.#pause();
      const versions = this.#versions.get(reference) ?? [];
      const back = this.#staleReads.shift() ?? 0;
      const data = versions.at(-1 - back) ?? versions[0];
      if (data === undefined) throw notFound();
      const date = new Date(this.clock.now()).toUTCString();
      await this.#pause();
      return { data, response: { headers: new Headers({ date }) } };
    };
    return {
      orders: { get: (one) => ({ withResponse: () => whileAlive(() => respond(one)) }) },
      "~scopeOf": async () => "scope",
    };
  }

  async #handle({ order, changes }: OrderChanged): Promise<void> {
    const { reference } = order;
    const handed: HandedOver = { reference, order: order as Versioned, changes, finished: false };
    this.handed.push(handed);
    await this.#pause();
    if (this.#failing > 0) {
      this.#failing -= 1;
      throw new Error("the handler failed");
    }
    handed.finished = true;
  }
}
