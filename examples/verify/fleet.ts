/** Five orders through the queue of examples/fleet: `REDIS_URL=… npx pod-partner verify -- node fleet.ts`. */
import { setTimeout as sleep } from "node:timers/promises";
import { Queue } from "bullmq";
import { fiveOrders } from "./orders.ts";
import { redisOfRow } from "./redis.ts";

const url = await redisOfRow();
process.env.REDIS_URL = url;
const { orders } = await fiveOrders();
const queue = new Queue("orders", { connection: { url } });
const options = { attempts: 100, backoff: 1_000 };
const add = (order: (typeof orders)[number]) =>
  queue.add("place", { order }, { ...options, jobId: order.customIdentifier });
const jobs = await Promise.all(orders.map(add));
await import("../fleet/worker.ts");

const open = async () => (await Promise.all(jobs.map((job) => job.isCompleted()))).includes(false);
while (await open()) await sleep(200);
await queue.close();
process.kill(process.pid, "SIGTERM"); // ends as a deployment ends it
