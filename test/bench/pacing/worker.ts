/** A process of one client: makes the requested calls, and reports their outcomes. */
import { type ClientName, clients } from "./clients.ts";

/** The message from the parent process. */
export interface Job {
  readonly calls: number;
  readonly parallel: number;
}

/** The outcomes of the calls. */
export interface Done {
  readonly failed: number;
  /** When each successful call completed, in milliseconds since 1970. */
  readonly at: readonly number[];
  /** The duration of each call in milliseconds. */
  readonly took: readonly number[];
}

const [, , name, origin, redisUrl] = process.argv as [string, string, ClientName, string, string];
const call = await clients[name](origin, redisUrl);
const clock = () => performance.timeOrigin + performance.now();

process.on("message", async ({ calls, parallel }: Job) => {
  const at: number[] = [];
  const took: number[] = [];
  let failed = 0;
  let left = calls;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      const began = clock();
      try {
        await call();
        at.push(clock());
        took.push(clock() - began);
      } catch {
        failed += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, lane));
  process.send?.({ failed, at, took } satisfies Done);
});
process.send?.("ready");
