/** A worker as a partner writes it: it takes orders from a queue and places each. It may be killed at any moment, and another one starts. */
import { setTimeout as sleep } from "node:timers/promises";
import { PodPartner } from "../../../src/index.ts";
import { openStorage } from "../open-storage.ts";
import type { Job } from "./messages.ts";
import { openQueue, type QueuedJob } from "./queues.ts";

process.once("message", async ({ baseUrl, secretKey, storeReference, productReference, ...job }: Job) => {
  const queue = await openQueue(job.place, job.visibility);
  const storage = job.mode === "no storage, lookFor" ? {} : { storage: await openStorage(job.place) };
  const partner = new PodPartner({ baseUrl, secretKey, ...storage });
  const orderlines = [{ productReference, quantity: 1 }];
  const optionsOf = {
    "no storage, lookFor": ({ isRepeated }: QueuedJob) => ({ lookFor: isRepeated ? 30_000 : 0 }),
    storage: () => ({}),
    "storage, lookFirst: false": () => ({ lookFirst: false }),
  }[job.mode];

  const work = async () => {
    const taken = await queue.take();
    if (taken === undefined) return sleep(200);
    const order = { customIdentifier: taken.id, storeReference, shippingKind: "combined", orderlines } as const;
    await partner.orders.ensure(order, optionsOf(taken));
    await queue.finish(taken.id);
  };
  const lane = async () => {
    for (;;) {
      await work().catch((error: Error) => {
        process.send?.(error.name);
        return sleep(500);
      });
    }
  };
  for (let count = 0; count < job.lanes; count += 1) void lane();
});
process.once("disconnect", () => process.exit());
