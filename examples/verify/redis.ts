/** Gives each row of `verify` a database of its own in the Redis at `REDIS_URL`, also after a kill: it has 15 besides the first. */
import { Redis } from "ioredis";

export async function redisOfRow(): Promise<string> {
  const url = new URL(process.env.REDIS_URL ?? "redis://127.0.0.1");
  const redis = new Redis(url.href);
  const row = `verify:${process.env.POD_PARTNER_VERIFY_FOLDER}`;
  if ((await redis.exists(row)) === 0) {
    const number = 1 + ((await redis.incr("verify")) % 15);
    const other = redis.duplicate({ db: number });
    await other.flushdb();
    other.disconnect();
    await redis.set(row, number, "EX", 3_600, "NX"); // two programs of a row may begin at once
  }
  url.pathname = `${await redis.get(row)}`;
  redis.disconnect();
  return url.href;
}
