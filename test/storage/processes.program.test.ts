import type { KeyValueStorage } from "pod-partner";
import { postgresStorage } from "pod-partner/postgres";
import { redisStorage } from "pod-partner/redis";
import { sqliteStorage } from "pod-partner/sqlite";
import { createManualClock } from "pod-partner/testing";
import { afterEach, describe, expect, it } from "vitest";
import { takeLock } from "../../src/storage/lock.ts";
import { useRedis } from "../redis/use-redis.ts";
import { redisInstalled } from "../support/redis.ts";
import { table, usePostgres, withoutPostgres } from "../support/use-postgres.ts";
import { killChild, runChild } from "./children.ts";
import { keysOf, text, useFolder, useWallClock } from "./storages.ts";

interface Shared {
  readonly location: string;
  open(): KeyValueStorage;
  /** Moves the clock of the lock on by this number of milliseconds. */
  pass(ms: number): Promise<unknown>;
}

function file(): Shared {
  const folder = useFolder();
  const pass = useWallClock();
  const opened: (() => Promise<void>)[] = [];
  afterEach(() => Promise.all(opened.splice(0).map((close) => close())));
  return {
    get location() {
      return folder.path("storage.db");
    },
    open() {
      const storage = sqliteStorage(this.location);
      opened.push(storage.close);
      return storage;
    },
    pass,
  };
}

function redis(): Shared {
  const context = useRedis();
  return {
    get location() {
      return context.server.url;
    },
    open: () => redisStorage(context.redis),
    pass: async (ms) => context.redis.pExpire("lock", (await context.redis.pTTL("lock")) - ms),
  };
}

function postgres(): Shared {
  const context = usePostgres();
  return {
    get location() {
      return context.server.url;
    },
    open: () => postgresStorage(context.pool),
    pass: (ms) => context.pool.query(`UPDATE ${table} SET until = until - interval '${ms} milliseconds'`),
  };
}

const minute = 60_000;
/** It stands still: no lock is renewed. */
const clock = createManualClock();

describe.each(Object.entries({ sqlite: file, redis, postgres }))(
  "several processes on one storage: %s",
  (kind, use) => {
    const withoutRedis = kind === "redis" && !redisInstalled && !process.env.CI;
    const describeHere = describe.skipIf(withoutRedis || (kind === "postgres" && withoutPostgres));

    describeHere("at the same time, or of which one is killed", () => {
      const shared = use();

      it("count exactly, by compare-and-set", async () => {
        const job = { task: "count", location: shared.location, times: 100 } as const;
        expect(await Promise.all([runChild(job), runChild(job)])).toEqual(["", ""]);
        expect(text(await shared.open().get("count"))).toBe("200");
      });

      it("open it, write and close it, without a failure", async () => {
        const job = { task: "open", location: shared.location, times: 10 } as const;
        const failures = await Promise.all(Array.from({ length: 3 }, () => runChild(job)));
        expect(failures).toEqual(failures.map(() => ""));
        expect(await keysOf(shared.open(), "key:")).toHaveLength(3 * 10);
      });

      it("find whole values when one is killed", async () => {
        for (let round = 0; round < 2; round += 1) {
          await killChild({ task: "fill", location: shared.location, times: 1 });
          const storage = shared.open();
          for (const key of ["one", "two"]) {
            const value = await storage.get(key);
            expect(value).toHaveLength(200_000);
            expect(new Set(value).size).toBe(1);
            expect(await storage.set(key, Uint8Array.of(round))).toBe(true);
          }
        }
      });

      it("get the lock of one that is killed when the lock ends, and not before", async () => {
        await killChild({ task: "lock", location: shared.location, times: 10 * minute });
        const storage = shared.open();
        expect(await takeLock(storage, "lock", minute, clock)).toBeUndefined();
        await shared.pass(5 * minute);
        expect(await takeLock(storage, "lock", minute, clock)).toBeUndefined();
        await shared.pass(6 * minute);
        expect(await takeLock(storage, "lock", minute, clock)).toBeTypeOf("object");
      });
    });
  },
);
