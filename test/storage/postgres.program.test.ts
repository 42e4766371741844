import { Client, Pool } from "pg";
import { ConfigurationError, type KeyValueStorage } from "pod-partner";
import { postgresStorage } from "pod-partner/postgres";
import postgres from "postgres";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { migration } from "../../src/postgres/table.ts";
import { openStorage } from "../../src/storage/client-storage.ts";
import { takeLock } from "../../src/storage/lock.ts";
import { createScopeOf } from "../../src/storage/scoped-storage.ts";
import { systemClock } from "../../src/util/clock.ts";
import { startPostgres } from "../support/postgres.ts";
import { describeWithPostgres, table, usePostgres } from "../support/use-postgres.ts";
import { bytes, keysOf, text } from "./storages.ts";

const all = Uint8Array.from({ length: 256 }, (_, index) => index);

/** A client of `pg` that notes the statements. */
function noting(client: Pool) {
  const statements: string[] = [];
  const query = (text: string, values: (string | null)[]) => {
    statements.push(text);
    return client.query<object>(text, values);
  };
  return { statements, client: { query } };
}

describeWithPostgres("a storage in Postgres", () => {
  const context = usePostgres();
  const opened: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0)) await close();
  });
  function poolOf(options: object = {}, url = context.server.url): Pool {
    const pool = new Pool({ connectionString: url, ...options });
    pool.on("error", () => undefined);
    opened.push(() => pool.end());
    return pool;
  }
  async function clientOf(url = context.server.url): Promise<Client> {
    const client = new Client({ connectionString: url });
    client.on("error", () => undefined);
    await client.connect();
    opened.push(() => client.end());
    return client;
  }
  function sqlOf(options: object = {}, url = context.server.url) {
    const sql = postgres(url, { onnotice: () => undefined, ...options });
    opened.push(() => sql.end({ timeout: 0 }));
    return sql;
  }
  const rows = async () => (await context.pool.query(`SELECT * FROM ${table} ORDER BY key`)).rows;

  describe("with clients that have unusual settings", () => {
    const settings: Record<string, () => ReturnType<typeof sqlOf> | Pool> = {
      "postgres.js that renames columns": () => sqlOf({ transform: postgres.toPascal }),
      "postgres.js that knows no types": () => sqlOf({ fetch_types: false, prepare: false, max: 1 }),
      "a pool of one client": () => poolOf({ max: 1 }),
      "a pool whose transactions are serializable": () =>
        poolOf({ options: "-c default_transaction_isolation=serializable" }),
      "a pool with another form of bytes and another time zone": () =>
        poolOf({ options: "-c bytea_output=escape -c timezone=Asia/Kathmandu -c standard_conforming_strings=off" }),
    };

    it.each(Object.entries(settings))("works with %s", async (_, open) => {
      const storage = postgresStorage(open());
      await storage.migrate();
      expect(await storage.set("1", all, { expected: null })).toBe(true);
      expect(await storage.set("1", all, { expected: null })).toBe(false);
      expect(await storage.set("2", bytes("2"), { ttl: 60_000 })).toBe(true);
      expect(await storage.get("1")).toEqual(all);
      expect(await keysOf(storage, "")).toEqual(["1", "2"]);
      expect(await storage.delete("1", { expected: all })).toBe(true);
      expect(await storage.get("1")).toBeUndefined();
    });
  });

  it("counts exactly by compare-and-set over eight connections, also when transactions are serializable", async () => {
    const increment = async (storage: KeyValueStorage) => {
      for (;;) {
        const held = await storage.get("count");
        const next = bytes(String(Number(text(held) ?? 0) + 1));
        if (await storage.set("count", next, { expected: held ?? null })) return;
      }
    };
    const clients = await Promise.all([
      ...Array.from({ length: 4 }, () => clientOf()),
      ...Array.from({ length: 2 }, () => clientOf(context.bouncer.url)),
      sqlOf({ max: 1 }),
      poolOf({ max: 1, options: "-c default_transaction_isolation=serializable" }),
    ]);
    await Promise.all(
      clients.map(async (client) => {
        const storage = postgresStorage(client);
        for (let count = 0; count < 20; count += 1) await increment(storage);
      }),
    );
    expect(text(await postgresStorage(context.pool).get("count"))).toBe("160");
  });

  it("gives the place of a value that is gone, and not swept yet, to exactly one", async () => {
    // One storage would send its own attempts one after the other.
    const stores = Array.from({ length: 10 }, (_, index) =>
      postgresStorage(index % 2 ? poolOf({ max: 1 }) : context.pool),
    );
    for (let round = 0; round < 5; round += 1) {
      const key = `key:${round}`;
      await context.pool.query(`INSERT INTO ${table} VALUES ($1, 'old', now() - interval '1 second')`, [key]);
      const taken = await Promise.all(
        stores.map((storage, index) => storage.set(key, bytes(`${index}`), { expected: null })),
      );
      expect(taken.filter(Boolean)).toHaveLength(1);
      expect(text(await stores[round % 10]?.get(key))).toBe(`${taken.indexOf(true)}`);
    }
  });

  it("goes by the clock of the database, not by that of the process", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2001-01-01") });
    onTestFinished(() => void vi.useRealTimers());
    const storage = postgresStorage(context.pool);
    await storage.set("key", all, { ttl: 60_000 });
    const left = `SELECT extract(epoch FROM until - now())::float8 AS left FROM ${table}`;
    const [row] = (await context.pool.query(left)).rows;
    expect(row.left).toBeGreaterThan(30);
    expect(row.left).toBeLessThanOrEqual(60);
    expect(await storage.get("key")).toEqual(all);
    await context.pool.query(`UPDATE ${table} SET until = clock_timestamp()`);
    expect(await storage.get("key")).toBeUndefined();
    expect(await storage.delete("key")).toBe(false);
    expect(await keysOf(storage, "")).toEqual([]);
    expect(await rows()).toHaveLength(1);
  });

  it("sends one statement for each operation, and sweeps in small steps between changes", async () => {
    await context.pool.query(
      `INSERT INTO ${table} SELECT 'gone:' || n, '', now() - interval '1 hour' FROM generate_series(1, 200) AS n`,
    );
    const { statements, client } = noting(context.pool);
    const storage = postgresStorage(client);
    for (let count = 0; count < 64; count += 1) await storage.set(`key:${count % 4}`, all, { ttl: 60_000 });
    expect(statements).toHaveLength(64 + 2);
    expect((await rows()).filter(({ key }) => key.startsWith("gone:"))).toHaveLength(200 - 2 * 64);
    statements.length = 0;
    await storage.get("key:1");
    await storage.set("key:1", bytes("1"), { expected: all });
    await storage.delete("key:1", { expected: bytes("1") });
    await keysOf(storage, "");
    // The first is a sweep.
    expect(statements).toHaveLength(5);
    for (const statement of statements) expect(statement).not.toMatch(/pg_advisory|\bSET (LOCAL|SESSION)|PREPARE|TEMP/);
  });

  it("uses the index for a prefix and for the sweep", async () => {
    const fill = `INSERT INTO ${table} SELECT 'other:' || n, 'x', now() + interval '1 hour' FROM generate_series(1, 20000) AS n`;
    await context.pool.query(fill);
    await context.pool.query(`ANALYZE ${table}`);
    const plans: string[] = [];
    const explaining = {
      query: async (statement: string, values: (string | null)[]) => {
        const { rows } = await context.pool.query(`EXPLAIN ${statement}`, values);
        plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
        return context.pool.query<object>(statement, values);
      },
    };
    const storage = postgresStorage(explaining);
    await storage.set("key", all);
    await storage.get("key");
    expect(await keysOf(storage, "k")).toEqual(["key"]);
    await storage.set("key", all, { expected: all });
    await storage.delete("key");
    expect(plans).toHaveLength(6);
    for (const plan of plans) expect(plan).not.toContain("Seq Scan");
  });

  it("keeps keys readable, and takes keys with any characters, also a null character and half of a pair", async () => {
    const storage = postgresStorage(context.pool);
    const keys = ["pod-partner:{scope}:image:1", "a%b", "a\u0000b", "é\u{1f600}", "\ud83d", "\u007f", ""];
    for (const key of keys) {
      expect(await storage.set(key, bytes(key), { expected: null })).toBe(true);
      expect(await storage.set(key, bytes(key), { expected: null })).toBe(false);
      expect(text(await storage.get(key))).toBe(text(bytes(key)));
    }
    expect(await keysOf(storage, "")).toEqual(keys.toSorted());
    expect(await keysOf(storage, "a\u0000")).toEqual(["a\u0000b"]);
    expect(await keysOf(storage, "a%")).toEqual(["a%b"]);
    expect((await rows()).map(({ key }) => key)).toContain("pod-partner:{scope}:image:1");
  });

  it("holds a value of 2 MB", async () => {
    const storage = postgresStorage(context.pool);
    const value = new Uint8Array(2 * 1024 * 1024);
    for (let at = 0; at < value.length; at += 65_536) crypto.getRandomValues(value.subarray(at, at + 65_536));
    await storage.set("key", value);
    expect(Buffer.compare((await storage.get("key")) ?? new Uint8Array(), value)).toBe(0);
  });

  describe("and its table", () => {
    it("is created once by any number of processes at the same time", async () => {
      await context.pool.query("CREATE SCHEMA shop");
      for (const name of ["shop.notes", "Notes"]) {
        await Promise.all(
          Array.from({ length: 8 }, () => postgresStorage(poolOf({ max: 2 }), { table: name }).migrate()),
        );
        const storage = postgresStorage(context.pool, { table: name });
        await storage.set("key", bytes(name));
        expect(text(await storage.get("key"))).toBe(name);
      }
      expect((await context.pool.query("SELECT key FROM shop.notes")).rows).toEqual([{ key: "key" }]);
      expect((await context.pool.query('SELECT key FROM "Notes"')).rows).toEqual([{ key: "key" }]);
      expect(await rows()).toEqual([]);
    });

    it("is the one of the file `postgres.sql`", async () => {
      await context.pool.query("CREATE DATABASE other");
      const pool = poolOf({}, context.server.url.replace(/\/postgres$/, "/other"));
      await pool.query(migration());
      const { statements, client } = noting(pool);
      await postgresStorage(client).migrate();
      expect(statements.filter((statement) => statement.startsWith("CREATE"))).toEqual([]);
      const describe = "SELECT indexdef FROM pg_indexes WHERE tablename = $1 ORDER BY 1";
      expect((await pool.query(describe, [table])).rows).toEqual((await context.pool.query(describe, [table])).rows);
      expect(await postgresStorage(pool).set("key", all)).toBe(true);
    });

    it("is missing: each operation is refused with the name of `migrate`", async () => {
      for (const client of [context.pool, sqlOf(), await clientOf(context.bouncer.url)]) {
        const storage = postgresStorage(client, { table: "missing" });
        for (const operation of [() => storage.get("1"), () => storage.set("1", all), () => keysOf(storage, "")]) {
          const error = await operation().catch((reason: unknown) => reason);
          expect(error).toBeInstanceOf(ConfigurationError);
          expect(String(error)).toContain('no table "missing"; call `await storage.migrate()` once');
        }
      }
      const elsewhere = postgresStorage(context.pool, { table: "nowhere.notes" });
      await expect(elsewhere.migrate()).rejects.toThrow('no schema for "nowhere"."notes"');
    });

    it("is another table: an operation is refused, and changes nothing", async () => {
      await context.pool.query("CREATE TABLE foreign1 (key text PRIMARY KEY, value bytea, until bigint)");
      await context.pool.query("CREATE TABLE foreign2 (id int)");
      await context.pool.query("CREATE TABLE foreign3 (key text, value bytea, until timestamptz)");
      for (const name of ["foreign1", "foreign2", "foreign3"]) {
        const storage = postgresStorage(context.pool, { table: name });
        await expect(storage.set("key", all)).rejects.toThrow(ConfigurationError);
        await expect(storage.set("key", all)).rejects.toThrow(`"${name}" is not the table of a storage`);
      }
    });

    it("has a name that cannot hold SQL", () => {
      const wrong = ["", "a.b.c", 'a"b', "a b", "1a", "a;DROP TABLE b", ".a", "a.", "x".repeat(58), "ä", 7, null, {}];
      for (const name of wrong) {
        expect(() => postgresStorage(context.pool, { table: name as never })).toThrow(ConfigurationError);
      }
      expect(() => postgresStorage(context.pool, { table: "x".repeat(57) })).not.toThrow();
    });
  });

  it("refuses an object that is not a client, and unknown options", () => {
    for (const client of [undefined, null, {}, "postgres://127.0.0.1", new Map(), () => undefined]) {
      expect(() => postgresStorage(client as never)).toThrow(ConfigurationError);
    }
    expect(() => postgresStorage(context.pool, { organisation: "shop" } as never)).toThrow("unknown option");
  });

  it("refuses a client inside a transaction", async () => {
    const client = await clientOf();
    const storage = postgresStorage(client);
    await storage.set("key", bytes("before"));
    await client.query("BEGIN");
    await expect(storage.set("key", bytes("inside"))).rejects.toThrow("client: is inside a transaction");
    await client.query("ROLLBACK");
    expect(text(await storage.get("key"))).toBe("before");
    const expectRefusal = (inside: unknown) =>
      expect(() => postgresStorage(inside as never)).toThrow("client: is inside a transaction");
    await sqlOf().begin(async (sql) => expectRefusal(sql));
  });

  it("uses a client of `pg` for one statement at a time", async () => {
    const warnings: unknown[] = [];
    const note = (warning: unknown) => void warnings.push(warning);
    process.on("warning", note);
    onTestFinished(() => void process.off("warning", note));
    const storage = postgresStorage(await clientOf());
    await Promise.all(Array.from({ length: 20 }, (_, index) => storage.set(`key:${index}`, all)));
    await new Promise((resolve) => setTimeout(resolve));
    expect(warnings).toEqual([]);
  });

  it.each(["pg", "postgres.js"])(
    "fails in a bounded time while the caller has all connections of %s, and what was not sent never is",
    async (kind) => {
      let free: () => void = () => undefined;
      let storage: KeyValueStorage;
      const held = new Promise<void>((resolve) => {
        free = resolve;
      });
      if (kind === "pg") {
        const pool = poolOf({ max: 1 });
        const client = await pool.connect();
        void held.then(() => client.release());
        storage = postgresStorage(pool);
      } else {
        const sql = sqlOf({ max: 1 });
        await new Promise<void>((begun) => {
          sql
            .begin(async () => {
              begun();
              await held;
            })
            .catch(() => undefined);
        });
        storage = postgresStorage(sql);
      }
      await postgresStorage(context.pool).set("old", all);
      const operations = [storage.set("new", all), storage.set("old", bytes("1")), storage.delete("old")];
      const began = performance.now();
      for (const outcome of await Promise.allSettled(operations)) {
        expect(String(outcome.status === "rejected" && outcome.reason)).toContain(
          "no result of Postgres within 5000 ms",
        );
      }
      expect(performance.now() - began).toBeLessThan(15_000);
      free();
      // The operation of the same storage comes after those that waited.
      expect(await storage.get("old")).toEqual(all);
      expect((await rows()).map(({ key }) => key)).toEqual(["old"]);
    },
  );

  describe("as the storage of a client", () => {
    const openPart = (storage: KeyValueStorage, secretKey: string, reports: string[] = []) =>
      openStorage({
        storage,
        scopeOf: createScopeOf("https://partner.example/v2", secretKey),
        clock: systemClock,
        reports: { onLost: (reason) => void reports.push(reason), onBack: () => void reports.push("back") },
      });

    it("separates the organizations of one table", async () => {
      const named = (organization?: string) => postgresStorage(context.pool, { organization });
      await (await openPart(named(), "key-1-5up3r53cr3t")).set("key", bytes("1"));
      await (await openPart(named("shop"), "key-1-5up3r53cr3t")).set("key", bytes("shop"));
      expect(text(await (await openPart(named("shop"), "key-2-5up3r53cr3t")).get("key"))).toBe("shop");
      expect(await (await openPart(named("other"), "key-1-5up3r53cr3t")).get("key")).toBeUndefined();
      expect(await (await openPart(named(), "key-2-5up3r53cr3t")).get("key")).toBeUndefined();
      const keys = (await rows()).map(({ key }) => key);
      expect(keys).toHaveLength(2);
      for (const key of keys) expect(key).toMatch(/^pod-partner:\{[0-9a-f]{32}\}:key$/);
    });

    it("is lost while its table is missing, and the report names `migrate`", async () => {
      const reports: string[] = [];
      const storage = postgresStorage(context.pool, { table: "later" });
      const part = await openPart(storage, "key-1-5up3r53cr3t", reports);
      expect(await part.find("key")).toBe("lost");
      expect(reports).toEqual([expect.stringContaining("call `await storage.migrate()` once")]);
      await storage.migrate();
      await expect.poll(() => part.find("key")).toBeUndefined();
      expect(reports).toEqual([expect.anything(), "back"]);
    });
  });

  it("reports a standby, where reads go on, and a user without rights", async () => {
    await postgresStorage(context.pool).set("key", all);
    const standby = postgresStorage(poolOf({ options: "-c default_transaction_read_only=on" }));
    expect(await standby.get("key")).toEqual(all);
    await expect(standby.set("key", bytes("1"))).rejects.toThrow("the storage needs a client of the primary");
    await context.pool.query(`CREATE ROLE reader LOGIN; GRANT SELECT ON ${table} TO reader`);
    const reader = postgresStorage(poolOf({ user: "reader" }, context.server.url.replace("postgres@", "reader@")));
    expect(await reader.get("key")).toEqual(all);
    await expect(reader.delete("key")).rejects.toThrow("the storage needs SELECT, INSERT, UPDATE and DELETE");
    // The table exists: there is nothing to create.
    await reader.migrate();
  });

  it("reports a statement that Postgres ends for its time", async () => {
    const locked = await clientOf();
    await postgresStorage(context.pool).set("key", all);
    await locked.query(`BEGIN; SELECT * FROM ${table} FOR UPDATE`);
    const storage = postgresStorage(poolOf({ options: "-c statement_timeout=2000" }));
    await expect(storage.set("key", bytes("1"))).rejects.toThrow("canceling statement due to statement timeout");
    await locked.query("ROLLBACK");
    expect(await storage.set("key", bytes("1"))).toBe(true);
  });

  it("says which error of the network it was, where the client's error has no message", async () => {
    const refused = Object.assign(new AggregateError([new Error("1"), new Error("2")]), { code: "ECONNREFUSED" });
    const storage = postgresStorage({ query: () => Promise.reject(refused) });
    await expect(storage.get("key")).rejects.toThrow("Postgres cannot be reached: ECONNREFUSED");
  });

  it.each(["pg", "postgres.js"])(
    "fails while Postgres restarts, and works after it with the same client of %s",
    async (kind) => {
      const server = await startPostgres();
      opened.push(() => server.kill());
      const client = kind === "pg" ? poolOf({}, server.url) : sqlOf({ connect_timeout: 1, backoff: 0.05 }, server.url);
      const storage = postgresStorage(client);
      await storage.migrate();
      await storage.set("key", all);
      const lock = await takeLock(storage, "lock", 60_000, systemClock);
      if (lock === undefined || lock === "lost") throw new Error("expected a lock");
      await server.crash();
      const failure = await storage.set("key", bytes("lost")).catch((reason: unknown) => reason);
      expect(failure).toBeInstanceOf(Error);
      expect(String(failure)).toMatch(/ECONNREFUSED|terminat|CONNECTION|ECONNRESET|shutdown/);
      await server.start();
      await expect.poll(() => storage.get("key").catch(() => undefined)).toEqual(all);
      expect(await takeLock(storage, "lock", 60_000, systemClock)).toBeUndefined();
      await lock.release();
      expect(await storage.get("lock")).toBeUndefined();
      expect(await storage.set("key", bytes("new"), { expected: all })).toBe(true);
    },
  );
});
