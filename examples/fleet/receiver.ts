/** Receives order-updated callbacks, puts each into a queue, and acknowledges it. Workers process it: examples/fleet/worker.ts. */
import { createServer } from "node:http";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { PodPartner } from "pod-partner";
import { createOrderUpdatedReceiver } from "pod-partner/callbacks";
import { redisPacing } from "pod-partner/redis";

const { CALLBACK_TOKEN: token, PORT: port = "3000", REDIS_URL: url } = process.env;
if (!token || !url) throw new Error("CALLBACK_TOKEN or REDIS_URL is not set");

const redis = new Redis(url);
const jobs = new Queue("orders", { connection: { url } });

const receiver = createOrderUpdatedReceiver({
  // The receiver reads the order, so that invented references never reach the queue.
  partner: new PodPartner({ pacing: { shared: redisPacing(redis) } }),
  token,
  environment: "test",
  // The service receives its 204 when the job is in Redis. If Redis is lost, it receives a 503 and repeats the callback.
  onOrderUpdated: ({ orderReference }) =>
    jobs.add(
      "update",
      { orderReference },
      {
        attempts: 20,
        backoff: { type: "exponential", delay: 1_000 },
        // Hints for one order that wait become one job. A hint during the job becomes one more job: the job may have read the order before.
        deduplication: { id: orderReference, keepLastIfActive: true },
        removeOnComplete: true,
      },
    ),
});

const server = createServer(receiver.node).listen(Number(port), () => {
  console.log("port", Object(server.address()).port);
});
process.once("SIGTERM", async () => {
  await receiver.close();
  server.close();
  await jobs.close();
  redis.disconnect();
});
