import { DatabaseSync } from "node:sqlite";
import { type IdentifiedOrderInput, PodPartner } from "pod-partner";
import {
  type SimulatedProgram,
  type SimulatedWorld,
  type SimulateOptions,
  simulate,
  validOrder,
} from "pod-partner/testing";
import { ordersOf, partnerOf, twoOrders } from "./programs.ts";

type Search = Pick<SimulateOptions, "replay">;

/** A program with one mistake. */
export interface Planted {
  readonly name: string;
  /** A schedule that a search has found. */
  readonly replay: string;
  readonly finds: string;
  readonly run: (options: Search) => Promise<unknown>;
}

const placing =
  (program: SimulatedProgram, more: SimulateOptions = {}) =>
  (options: Search) =>
    simulate(program, { setUp: twoOrders, ...more, ...options });

/** Without the SDK's care: a request, which is repeated as most programs do. */
async function post({ clientOptions, sleep }: SimulatedWorld, order: IdentifiedOrderInput): Promise<void> {
  const { baseUrl, secretKey, fetch = globalThis.fetch } = clientOptions;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const headers = { "X-Service-Secret-Key": secretKey, "Content-Type": "application/json" };
      const response = await fetch(
        new Request(`${baseUrl}/orders`, { method: "POST", headers, body: JSON.stringify({ order }) }),
      );
      if (response.ok) return;
    } catch (error) {
      if (attempt === 5) throw error;
    }
    await sleep(1_000 * attempt);
  }
}

const openSqlite = () => {
  const database = new DatabaseSync(":memory:");
  database.exec(
    "create table orders (id text primary key, placed integer default 0); insert into orders (id) values ('shop-1'), ('shop-2')",
  );
  return database;
};

const sqlite = (program: SimulatedProgram<DatabaseSync>) => (options: Search) =>
  simulate(program, { ...options, database: openSqlite });

const ids = (rows: readonly Record<string, unknown>[]) => rows.map(({ id }) => String(id));

const orderOf = ({ emulator }: Pick<SimulatedWorld, "emulator">, customIdentifier: string) =>
  validOrder(emulator, { customIdentifier, shippingKind: "combined" });

export const planted: readonly Planted[] = [
  {
    name: "a new identifier at each try",
    replay: "1 r1:kill",
    finds: "made twice",
    run: placing(async (world) => {
      const partner = partnerOf(world);
      for (const order of await ordersOf(world)) {
        if (await world.database.get("placed", order.customIdentifier)) continue;
        await partner.orders.create({ ...order, customIdentifier: crypto.randomUUID() });
        await world.database.put("placed", order.customIdentifier, true);
      }
    }),
  },
  {
    name: "no storage",
    replay: "198 r2:gateway r5:kill",
    finds: "made twice",
    run: placing(async (world) => {
      const partner = new PodPartner(world.clientOptions);
      for (const order of await ordersOf(world)) await partner.orders.ensure(order);
    }),
  },
  {
    name: "a request that is repeated without a look-up",
    replay: "1 r1:lost",
    finds: "made twice",
    run: placing(async (world) => {
      for (const order of await ordersOf(world)) {
        if (await world.database.get("placed", order.customIdentifier)) continue;
        await post(world, order);
        await world.database.put("placed", order.customIdentifier, true);
      }
    }),
  },
  {
    name: "the row is deleted before the order is placed",
    replay: "1 r1:kill-before",
    finds: "missing",
    run: placing(async (world) => {
      const partner = partnerOf(world);
      for (const order of await ordersOf(world)) {
        await world.database.delete("orders", order.customIdentifier);
        await partner.orders.ensure(order);
      }
    }),
  },
  {
    name: "an error counts as placed",
    replay: "1 r1:kill-before",
    finds: "missing",
    run: placing(async (world) => {
      const partner = partnerOf(world);
      const deadline = 5_000;
      for (const order of await ordersOf(world)) await partner.orders.ensure(order, { deadline }).catch(() => {});
    }),
  },
  {
    name: "SQLite: marked as placed before the order is placed",
    replay: "1 r1:kill-before",
    finds: "missing",
    run: sqlite(async (world) => {
      const partner = new PodPartner({ ...world.clientOptions, storage: world.storage });
      for (const id of ids(world.database.prepare("select id from orders where placed = 0").all())) {
        world.database.prepare("update orders set placed = 1 where id = ?").run(id);
        await partner.orders.ensure(orderOf(world, id));
      }
    }),
  },
  {
    name: "SQLite: a new identifier for each life",
    replay: "1 r2:kill",
    finds: "made twice",
    run: sqlite(async (world) => {
      const partner = new PodPartner({ ...world.clientOptions, storage: world.storage });
      for (const id of ids(world.database.prepare("select id from orders where placed = 0").all())) {
        await partner.orders.ensure(orderOf(world, `${id}-${world.life}`));
        world.database.prepare("update orders set placed = 1 where id = ?").run(id);
      }
    }),
  },
];
