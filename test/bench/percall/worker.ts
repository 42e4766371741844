/** A process of one client: makes as many calls as requested, and reports the CPU time of each. */
import { type ClientName, clients } from "../clients.ts";

/** The message from the parent process. */
export interface Job {
  readonly calls: number;
  readonly parallel: number;
}

const [, , name, origin] = process.argv as [string, string, ClientName, string];
const { call } = await clients[name](origin);

process.on("message", async ({ calls, parallel }: Job) => {
  let left = calls;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: parallel }, lane));
  const { user, system } = process.cpuUsage(before);
  process.send?.((user + system) / calls);
});
process.send?.("ready");
