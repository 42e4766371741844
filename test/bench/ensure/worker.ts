/** A process with one client: places orders, and reports the time of each. */
import type { KeyValueStorage, ProductReference, StoreReference } from "pod-partner";

export const storageKinds = ["none", "memory", "sqlite", "redis", "postgres"] as const;
export type StorageKind = (typeof storageKinds)[number];

/** What the client is made of. */
export interface Setup {
  readonly kind: StorageKind;
  /** The path of a file, or the URL of a server. */
  readonly at: string;
  readonly baseUrl: string;
  readonly secretKey: string;
  readonly storeReference: StoreReference;
  readonly productReference: ProductReference;
}

/** The message from the parent process: the identifiers, and how each is placed. */
export interface Job {
  readonly name: string;
  readonly orders: number;
  readonly parallel: number;
  readonly lookFirst: boolean;
}

/** What the orders of a job have cost. */
export interface Cost {
  /** Milliseconds of each order. */
  readonly times: readonly number[];
  /** Operations of the storage. */
  readonly operations: number;
  /** Microseconds of the processor. */
  readonly cpu: number;
}

const built = <Module>(door: string): Promise<Module> =>
  import(new URL(`dist/${door}.js`, `file://${process.cwd()}/`).href);

const { PodPartner, memoryStorage } = await built<typeof import("pod-partner")>("index");

/** Opens each storage as its documentation shows. */
const open: Readonly<Record<StorageKind, (at: string) => Promise<KeyValueStorage | undefined>>> = {
  none: async () => undefined,
  memory: async () => memoryStorage(),
  sqlite: async (at) => (await built<typeof import("pod-partner/sqlite")>("sqlite")).sqliteStorage(at),
  redis: async (url) => {
    const { redisStorage } = await built<typeof import("pod-partner/redis")>("redis");
    return redisStorage(await (await import("redis")).createClient({ url }).connect());
  },
  postgres: async (connectionString) => {
    const { postgresStorage } = await built<typeof import("pod-partner/postgres")>("postgres");
    const storage = postgresStorage(new (await import("pg")).Pool({ connectionString }));
    await storage.migrate();
    return storage;
  },
};

const operations = { count: 0 };

/** Counts the operations of a storage. */
function counted(storage: KeyValueStorage): KeyValueStorage {
  const tally = <Work extends (...input: never[]) => unknown>(work: Work): Work =>
    ((...input) => {
      operations.count += 1;
      return work(...input);
    }) as Work;
  const { get, set, delete: remove } = storage;
  return {
    kind: storage.kind,
    organization: storage.organization,
    get: tally(get.bind(storage)),
    set: tally(set.bind(storage)),
    delete: tally(remove.bind(storage)),
    keys: storage.keys.bind(storage),
  };
}

process.once("message", async ({ kind, at, baseUrl, secretKey, storeReference, productReference }: Setup) => {
  const storage = await open[kind](at);
  const partner = new PodPartner({ baseUrl, secretKey, ...(storage && { storage: counted(storage) }) });
  const orderlines = [{ productReference, quantity: 1 }];

  async function place(customIdentifier: string, lookFirst: boolean): Promise<number> {
    const began = performance.now();
    const order = { customIdentifier, storeReference, shippingKind: "combined", orderlines } as const;
    await partner.orders.ensure(order, lookFirst ? {} : { lookFirst });
    return performance.now() - began;
  }

  process.on("message", async ({ name, orders, parallel, lookFirst }: Job) => {
    const times: number[] = [];
    let left = orders;
    const lane = async () => {
      while (left > 0) times.push(await place(`bench-${name}-${left--}`, lookFirst));
    };
    const before = operations.count;
    const cpu = process.cpuUsage();
    await Promise.all(Array.from({ length: parallel }, lane));
    const { user, system } = process.cpuUsage(cpu);
    process.send?.({ times, operations: operations.count - before, cpu: user + system } satisfies Cost);
  });
  process.send?.("open");
});
// A connection to a server would keep the process alive.
process.once("disconnect", () => process.exit());
process.send?.("ready");
