import { DatabaseSync } from "node:sqlite";
import { PGlite } from "@electric-sql/pglite";
import {
  type IdentifiedOrderInput,
  NotFoundError,
  type Order,
  type OrderReference,
  type PackageMissingInput,
  PodPartner,
  type RenderInput,
} from "pod-partner";
import {
  createOrderFollower,
  createOrderUpdatedReceiver,
  type OrderUpdatedReceiverOptions,
  parseOrderUpdated,
} from "pod-partner/callbacks";
import {
  type SimulatedProgram,
  type SimulatedWorld,
  type SimulateOptions,
  simulate,
  validImage,
  validOrder,
  validPackageMissing,
  validRender,
} from "pod-partner/testing";
import { ordersOf, partnerOf, twoOrders } from "./programs.ts";

type Search = Pick<SimulateOptions, "replay" | "schedules" | "onProgress">;

/** A program with one mistake. */
export interface Planted {
  readonly name: string;
  /** A schedule that a search has found. */
  readonly replay: string;
  readonly finds: string;
  /** What in the story shows the mistake. */
  readonly tells: string;
  readonly run: (options: Search) => Promise<unknown>;
}

const placing =
  (program: SimulatedProgram | readonly SimulatedProgram[], more: SimulateOptions = {}) =>
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

/** The service ships each order in two parts. */
const shipping = { automation: { shipping: 3_000, parts: 2 } };

/** Hands each updated order over, and returns the client. */
function receive(world: SimulatedWorld, onOrderUpdated: OrderUpdatedReceiverOptions["onOrderUpdated"]): PodPartner {
  const partner = partnerOf(world);
  const options = { partner, onOrderUpdated, token: "simulated-callback", clock: world.clock, onError: () => {} };
  world.serve(createOrderUpdatedReceiver(options).fetch);
  return partner;
}

/** A program of each order's row. */
const each =
  (work: (world: SimulatedWorld, order: IdentifiedOrderInput, partner: PodPartner) => Promise<unknown>) =>
  async (world: SimulatedWorld) => {
    const partner = partnerOf(world);
    for (const order of await ordersOf(world)) await work(world, order, partner);
  };

/** Whether the service has the order. */
async function isPlaced(options: SimulatedWorld["clientOptions"], customIdentifier: string): Promise<boolean> {
  try {
    return (await new PodPartner(options).orders.lookup({ customIdentifier })) !== undefined;
  } catch (error) {
    if (error instanceof NotFoundError) return false;
    throw error;
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

let pglite: PGlite | undefined;

async function openPglite(): Promise<PGlite> {
  pglite ??= new PGlite();
  await pglite.exec(
    "drop table if exists outbox; create table outbox (id text primary key, state text not null default 'waiting'); insert into outbox values ('shop-1'), ('shop-2')",
  );
  return pglite;
}

/** A program of each row of an outbox that waits. */
const postgres =
  (work: (world: SimulatedWorld<PGlite>, id: string, partner: PodPartner) => Promise<unknown>) => (options: Search) =>
    simulate(
      async (world: SimulatedWorld<PGlite>) => {
        const partner = new PodPartner({ ...world.clientOptions, storage: world.storage });
        const { rows } = await world.database.query<{ id: string }>(
          "select id from outbox where state = 'waiting' order by id",
        );
        for (const id of ids(rows)) await work(world, id, partner);
      },
      { ...options, database: openPglite },
    );

function orderOf({ emulator }: Pick<SimulatedWorld, "emulator">, customIdentifier: string, quantity = 1) {
  const order = validOrder(emulator, { customIdentifier, shippingKind: "combined" });
  return { ...order, orderlines: order.orderlines.map((line) => ({ ...line, quantity })) };
}

export const planted: readonly Planted[] = [
  {
    name: "a new identifier at each try",
    replay: "1 r1:kill",
    finds: "made twice",
    tells: "made twice: one of b750bb17",
    run: placing(
      each(async ({ database }, order, partner) => {
        if (await database.get("placed", order.customIdentifier)) return;
        await partner.orders.create({ ...order, customIdentifier: crypto.randomUUID() });
        await database.put("placed", order.customIdentifier, true);
      }),
    ),
  },
  {
    name: "no storage",
    replay: "459 r2:gateway r5:kill-before",
    finds: "made twice",
    tells: "POST /orders (shop-1)  → 504",
    run: placing(async (world) => {
      const partner = new PodPartner(world.clientOptions);
      for (const order of await ordersOf(world)) await partner.orders.ensure(order);
    }),
  },
  {
    name: "a request that is repeated without a look-up",
    replay: "1 r1:lost",
    finds: "made twice",
    tells: "waits 1 s",
    run: placing(
      each(async (world, order) => {
        if (await world.database.get("placed", order.customIdentifier)) return;
        await post(world, order);
        await world.database.put("placed", order.customIdentifier, true);
      }),
    ),
  },
  {
    name: "the row is deleted before the order is placed",
    replay: "1 r1:kill-before",
    finds: "missing",
    tells: "delete orders (shop-1)",
    run: placing(
      each(async ({ database }, order, partner) => {
        await database.delete("orders", order.customIdentifier);
        await partner.orders.ensure(order);
      }),
    ),
  },
  {
    name: "an error counts as placed",
    replay: "1 r1:kill-before",
    finds: "missing",
    tells: "the call fails: DeadlineError: The call's deadline of 5000 ms is over",
    run: placing(each((_, order, partner) => partner.orders.ensure(order, { deadline: 5_000 }).catch(() => {}))),
  },
  {
    name: "SQLite: marked as placed before the order is placed",
    replay: "1 r1:kill-before",
    finds: "missing",
    tells: "run update orders set placed = 1 where id = ? (shop-1)  → 1 changed",
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
    tells: "one of shop-1-1, shop-1-2, shop-2-2 (the same content)",
    run: sqlite(async (world) => {
      const partner = new PodPartner({ ...world.clientOptions, storage: world.storage });
      for (const id of ids(world.database.prepare("select id from orders where placed = 0").all())) {
        await partner.orders.ensure(orderOf(world, `${id}-${world.life}`));
        world.database.prepare("update orders set placed = 1 where id = ?").run(id);
      }
    }),
  },
  {
    name: "an identifier with the time in it",
    replay: "1 r2:kill",
    finds: "made twice",
    tells: "get placed (shop-1)  → nothing",
    run: placing(
      each(async ({ database }, order, partner) => {
        if (await database.get("placed", order.customIdentifier)) return;
        await partner.orders.ensure({ ...order, customIdentifier: `${order.customIdentifier}-${Date.now()}` });
        await database.put("placed", order.customIdentifier, true);
      }),
    ),
  },
  {
    name: "an error of a look-up counts as: no order",
    replay: "1 r3:429",
    finds: "made twice",
    tells: "the call fails: RateLimitError (rate_limited)",
    run: placing(
      each(async ({ clientOptions, sleep }, order) => {
        const partner = new PodPartner({ ...clientOptions, retry: false });
        while (!(await partner.orders.lookup({ customIdentifier: order.customIdentifier }).catch(() => undefined))) {
          await partner.orders.create(order).catch(() => sleep(2_000));
        }
      }),
    ),
  },
  {
    name: "a lease that the holder does not check again",
    replay: "1 r1:suspend",
    finds: "made twice",
    tells: "get leases (shop-1)  → 17936",
    run: (options) => {
      const worker: SimulatedProgram = each(async ({ database, clock, sleep, clientOptions }, order) => {
        const { customIdentifier: id } = order;
        for (; !(await database.get("placed", id)); await sleep(10_000)) {
          const until = await database.get<number>("leases", id);
          if (until !== undefined && until > clock.now()) continue;
          await database.put("leases", id, clock.now() + 20_000);
          if (!(await isPlaced(clientOptions, id))) await new PodPartner(clientOptions).orders.create(order);
          await database.put("placed", id, true);
        }
      });
      const second: SimulatedProgram = async (world) => {
        await world.sleep(5_000);
        await worker(world);
      };
      return placing([worker, second])(options);
    },
  },
  {
    name: "a cancellation that counts as done after an error",
    replay: "1 r3:429",
    finds: "not as in the run without a fault",
    tells: "shop-1 (lines[0].canceledQuantity is 0 instead of 1)",
    run: placing(
      each(async (_, order, partner) => {
        const { reference } = await partner.orders.ensure(order);
        await partner.orders.cancel(reference, [{ index: 1, canceledQuantity: 1 }], { retry: false }).catch(() => {});
      }),
    ),
  },
  {
    name: "a claim filed in a catch",
    replay: "1 r1:429",
    finds: "made although the run without a fault did not: the claim",
    tells: "the call fails: RateLimitError (rate_limited)",
    run: placing(
      async ({ database, clientOptions }) => {
        const partner = new PodPartner({ ...clientOptions, retry: false });
        for (const claim of await database.all<PackageMissingInput>("claims")) {
          // Meant for a shipment that the service does not know.
          await partner.shipments.get(claim.shipmentReference).catch(() => partner.claims.createPackageMissing(claim));
        }
      },
      { setUp: ({ database, emulator }) => database.put("claims", "one", validPackageMissing(emulator)) },
    ),
  },
  {
    name: "a budget that counts the rendertokens after they were spent",
    replay: "1 r1:lost",
    finds: "the budget was 2 rendertokens",
    tells: "and sends it again: ConnectionError",
    run: placing(
      async ({ database, clientOptions }) => {
        const partner = new PodPartner(clientOptions);
        for (const row of await database.all<RenderInput>("pictures")) {
          const spent = (await database.get<number>("spent", "all")) ?? 0;
          if (spent === 2 || (await database.get("renders", row.imageReference))) continue;
          const { reference } = await partner.renders.create(row);
          await database.put("spent", "all", spent + 1);
          await database.put("renders", row.imageReference, reference);
        }
      },
      {
        setUp: async ({ database, emulator }) => {
          for (const name of ["a", "b", "c"]) {
            await database.put("pictures", name, validRender(emulator, { imageReference: validImage(emulator, name) }));
          }
        },
        check: ({ emulator }) => {
          const { used } = emulator.world().organizations[0]?.rendertokens ?? { used: 0 };
          if (used > 2) throw new Error(`the budget was 2 rendertokens, and ${used} were spent`);
        },
      },
    ),
  },
  {
    name: "acknowledged before it was stored",
    replay: "1 d2:lost",
    finds: "has not acted on the last change",
    tells: "the response to the callback shop-1  → 204",
    run: placing(
      async (world) => {
        const store = async (order: Order) => {
          await world.database.put("states", order.reference, order.orderlines);
          world.handled(order);
        };
        // Not awaited: the service gets its 204 first.
        const partner = receive(world, ({ order }) => void store(order));
        for (const order of await ordersOf(world)) await partner.orders.ensure(order);
      },
      { emulator: shipping },
    ),
  },
  {
    name: "an old status written over a newer one",
    replay: "154 r3:slow",
    finds: "acted on an older state after a newer one",
    tells: "has acted on shop-1: 1 shipped",
    run: placing(
      async (world) => {
        const partner = partnerOf(world);
        const update = async (reference: OrderReference) => {
          const order = await partner.orders.get(reference);
          await world.database.put("states", reference, order.orderlines);
          world.handled(order);
        };
        world.serve(async (request) => {
          await update(parseOrderUpdated(request.url).orderReference);
          return new Response(null, { status: 204 });
        });
        const { reference } = await partner.orders.ensure(orderOf(world, "shop-1", 2));
        // What no callback reported.
        await world.sleep(600_000);
        await update(reference);
      },
      { emulator: shipping },
    ),
  },
  {
    name: "no sweep for what no callback reports",
    replay: "1 c1:never",
    finds: "has not acted on the last change",
    tells: "✗ it gets lost",
    run: placing(
      async (world) => {
        const partner = partnerOf(world);
        const { storage, clock } = world;
        const onChange = ({ order }: { order: Order }) => world.handled(order);
        const follower = createOrderFollower({ partner, storage, clock, onChange });
        const options = { follower, token: "simulated-callback", clock, onError: () => {} };
        world.serve(createOrderUpdatedReceiver(options).fetch);
        for (const order of await ordersOf(world)) await partner.orders.ensure(order);
      },
      { emulator: shipping },
    ),
  },
  {
    name: "a mail for each callback",
    replay: "1 r5:suspend",
    finds: "mails about",
    tells: "204, too late: the service has given up",
    run: placing(
      async (world) => {
        const partner = receive(world, ({ order }) =>
          world.database.put("mails", crypto.randomUUID(), order.reference),
        );
        for (const order of await ordersOf(world)) await partner.orders.ensure(order);
      },
      {
        emulator: { automation: { shipping: 3_000, parts: 1 } },
        check: async ({ database }) => {
          const mails = Map.groupBy(await database.all<string>("mails"), (mail) => mail);
          for (const [mail, { length }] of mails) if (length > 1) throw new Error(`${length} mails about ${mail}`);
        },
      },
    ),
  },
  {
    name: "Postgres: the outbox row deleted before the call",
    replay: "1 r1:kill-before",
    finds: "missing",
    tells: "query delete from outbox where id = $1 (shop-1)  → 1 changed",
    run: postgres(async ({ database, ...world }, id, partner) => {
      await database.query("delete from outbox where id = $1", [id]);
      await partner.orders.ensure(orderOf(world, id));
    }),
  },
  {
    name: "Postgres: a call in a transaction, with an identifier of its own",
    replay: "1 r1:kill",
    finds: "made twice",
    tells: "the result of transaction  → rolled back",
    run: postgres(({ database, ...world }, id, partner) =>
      database.transaction(async (transaction) => {
        await transaction.query("delete from outbox where id = $1", [id]);
        await partner.orders.create({ ...orderOf(world, id), customIdentifier: crypto.randomUUID() });
      }),
    ),
  },
  {
    name: "Postgres: every error is final",
    replay: "1 r1:429",
    finds: "missing",
    tells: "(shop-1, refused)  → 1 changed",
    run: postgres(async ({ database, ...world }, id, partner) => {
      const placed = partner.orders.ensure(orderOf(world, id), { retry: false });
      const state = await placed.then(
        () => "placed",
        () => "refused",
      );
      await database.query("update outbox set state = $2 where id = $1", [id, state]);
    }),
  },
];
