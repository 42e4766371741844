/** A process of one client: makes as many calls as it is told, and says what CPU time each took. */
import { type ClientName, clients } from "./clients.ts";

/** What the parent asks for. */
export interface Job {
  readonly calls: number;
  readonly parallel: number;
}

const [, , name, origin] = process.argv as [string, string, ClientName, string];
const call = await clients[name](origin);

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
