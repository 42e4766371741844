/** Places orders and follows them. Start as many workers as you like: they share the pacing, the storage and the queue in one Redis. */
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { type IdentifiedOrderInput, type OrderReference, PodPartner } from "pod-partner";
import { createOrderFollower, type OrderChanged } from "pod-partner/callbacks";
import { redisPacing, redisStorage } from "pod-partner/redis";

const { REDIS_URL: url, SWEEP_EVERY: every = "3600000" } = process.env;
if (!url) throw new Error("REDIS_URL is not set");

const redis = new Redis(url); // for a storage: with `appendonly yes`
const storage = redisStorage(redis);
const partner = new PodPartner({ pacing: { shared: redisPacing(redis) }, storage });
const jobs = new Queue("orders", { connection: { url } });

/** Your own code. The same change may come twice, so each effect has a key: the order and the total. */
async function apply({ order, changes }: OrderChanged): Promise<void> {
  for (const change of changes) {
    if (change.kind !== "shipped") continue;
    const isNew = await redis.sadd("shop:effects", `${order.reference} ${change.index} ${change.to}`);
    if (isNew) console.log(order.reference, "line", change.index, "shipped", change.to);
  }
}

const follower = createOrderFollower({ partner, storage, onChange: apply });

const tasks = {
  async place({ order }: { order: IdentifiedOrderInput }) {
    // The storage knows what a worker that was killed has sent.
    const { reference } = await partner.orders.ensure(order);
    await follower.follow(reference);
    console.log(reference, "placed", order.customIdentifier);
  },
  update: ({ orderReference }: { orderReference: OrderReference }) => follower.update(orderReference),
  sweep: async () => console.log("swept", (await follower.reconcile()).checked),
};

const worker = new Worker(
  "orders",
  ({ name, data }) => tasks[name as keyof typeof tasks](data),
  // A job of a killed worker comes back after `lockDuration`. Its default allows that only once: then the job would fail.
  { connection: { url }, concurrency: 8, lockDuration: 10_000, stalledInterval: 5_000, maxStalledCount: 100 },
);
worker.on("failed", (job, error) => console.error(job?.name, error));
await jobs.upsertJobScheduler("sweep", { every: Number(every) }, { name: "sweep", opts: { removeOnComplete: true } });

process.once("SIGTERM", async () => {
  await worker.close(); // waits for the jobs in work
  await follower.close();
  await jobs.close();
  redis.disconnect();
});
