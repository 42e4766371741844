/**
 * The plainest queue that a shop builds in each store. A job that was taken and not finished comes back, also while its worker has it. It
 * comes before all others then, so that it is taken again soon after a kill.
 */
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openPool, openRedis, type StorageKind, type StorePlace } from "../open-storage.ts";

export interface QueuedJob {
  readonly id: string;
  /** Whether a worker has taken it before. */
  readonly isRepeated: boolean;
}

export interface Queue {
  add(ids: readonly string[]): Promise<void>;
  /** Takes a job; undefined when there is none now. */
  take(): Promise<QueuedJob | undefined>;
  finish(id: string): Promise<void>;
  /** The number of jobs that are not finished. */
  left(): Promise<number>;
  close(): Promise<void>;
}

async function postgres(place: StorePlace, visibility: number): Promise<Queue> {
  const pool = openPool(place);
  const query = async (text: string, ...values: unknown[]) => (await pool.query(text, values)).rows[0];
  return {
    add: async (ids) => {
      await query(
        `CREATE TABLE jobs (id text PRIMARY KEY, takes int NOT NULL DEFAULT 0, visible_at timestamptz NOT NULL DEFAULT now())`,
      );
      await query("CREATE INDEX ON jobs (visible_at)");
      await query("INSERT INTO jobs (id) SELECT unnest($1::text[])", ids);
    },
    take: async () => {
      const job = await query(
        `UPDATE jobs SET takes = takes + 1, visible_at = now() + $1 * interval '1 ms' WHERE id = (
          SELECT id FROM jobs WHERE visible_at <= now() ORDER BY visible_at DESC LIMIT 1 FOR UPDATE SKIP LOCKED
        ) RETURNING id, takes`,
        visibility,
      );
      return job && { id: job.id, isRepeated: job.takes > 1 };
    },
    finish: (id) => query("DELETE FROM jobs WHERE id = $1", id),
    left: async () => Number((await query("SELECT count(*) FROM jobs")).count),
    close: () => pool.end(),
  };
}

/** A sorted set, in which each job has the time from which it can be taken. */
async function redis(place: StorePlace, visibility: number): Promise<Queue> {
  const client = await openRedis(place);
  const take = `
    local time = redis.call("TIME")
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local id = redis.call("ZREVRANGEBYSCORE", "jobs", now, "-inf", "LIMIT", 0, 1)[1]
    if not id then return nil end
    redis.call("ZADD", "jobs", now + ARGV[1], id)
    return { id, redis.call("HINCRBY", "jobs:takes", id, 1) }`;
  return {
    add: async (ids) =>
      void (await client.zAdd(
        "jobs",
        ids.map((value) => ({ score: 0, value })),
      )),
    take: async () => {
      const job = (await client.eval(take, { arguments: [String(visibility)] })) as [string, number] | null;
      return job === null ? undefined : { id: job[0], isRepeated: job[1] > 1 };
    },
    finish: async (id) => void (await client.zRem("jobs", id)),
    left: () => client.zCard("jobs"),
    close: async () => client.destroy(),
  };
}

async function sqlite({ at }: StorePlace, visibility: number): Promise<Queue> {
  const database = new DatabaseSync(join(dirname(at), "queue.sqlite"), { timeout: 10_000 });
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  database.exec("CREATE TABLE IF NOT EXISTS jobs (id TEXT PRIMARY KEY, takes INT DEFAULT 0, visible_at INT DEFAULT 0)");
  database.exec("CREATE INDEX IF NOT EXISTS jobs_visible ON jobs (visible_at)");
  const taking = database.prepare(`UPDATE jobs SET takes = takes + 1, visible_at = ? WHERE id = (
    SELECT id FROM jobs WHERE visible_at <= ? ORDER BY visible_at DESC LIMIT 1
  ) RETURNING id, takes`);
  const finishing = database.prepare("DELETE FROM jobs WHERE id = ?");
  const counting = database.prepare("SELECT count(*) AS count FROM jobs");
  return {
    add: async (ids) => {
      database.prepare("INSERT INTO jobs (id) SELECT value FROM json_each(?)").run(JSON.stringify(ids));
    },
    take: async () => {
      const job = taking.get(Date.now() + visibility, Date.now());
      return job && { id: String(job.id), isRepeated: Number(job.takes) > 1 };
    },
    finish: async (id) => void finishing.run(id),
    left: async () => Number(counting.get()?.count),
    close: async () => database.close(),
  };
}

const queues: Readonly<Record<StorageKind, (place: StorePlace, visibility: number) => Promise<Queue>>> = {
  postgres,
  redis,
  sqlite,
};

/** Opens the queue in a store. A job that is not finished comes back `visibility` milliseconds after it was taken. */
export const openQueue = (place: StorePlace, visibility: number): Promise<Queue> =>
  queues[place.kind](place, visibility);
