/** A worker takes orders from a queue and places each once, even if an earlier worker was killed during a request. */
import { type IdentifiedOrderInput, PodPartner } from "pod-partner";
import { createEmulator, sampleImage } from "pod-partner/testing";

const emulator = createEmulator();
const connect = () => new PodPartner(emulator.clientOptions);
const partner = connect();

/** A row of your queue or table. */
interface Job {
  order: IdentifiedOrderInput;
  /** Whether a worker has taken this job before. Store it before you place the order. */
  isTaken: boolean;
}

async function work(job: Job): Promise<void> {
  // An earlier worker may have just sent the order, however long ago it took the job: it may have waited for the rate limit first. The
  // service may still be working on it, so one look-up cannot decide.
  const lookFor = job.isTaken ? 30_000 : 0;
  job.isTaken = true;
  const { reference, existed } = await partner.orders.ensure(job.order, { lookFor });
  console.log(job.order.customIdentifier, reference, existed ? "was there already" : "was placed");
}

const { reference: imageReference } = await partner.images.upload(sampleImage("a design"));
const order = (customIdentifier: string): IdentifiedOrderInput => ({
  storeReference: emulator.demo.stores.api,
  shippingKind: "combined",
  customIdentifier,
  orderlines: [{ productReference: emulator.demo.products.slimCase, imageReference, quantity: 1 }],
});

// Another worker sends the order and is killed while the service works on it.
const interrupted: Job = { order: order("shop-1"), isTaken: true };
const killed = new AbortController();
emulator.faults.add({ on: "orders.create", nth: 1, fault: "slow", ms: 500, when: "before" });
const earlier = connect().orders.ensure(interrupted.order, { signal: killed.signal });
setTimeout(() => killed.abort(), 100);
await earlier.catch(() => console.log("a worker was killed"));

for (const job of [interrupted, { order: order("shop-2"), isTaken: false }]) await work(job);
console.log("orders:", (await partner.orders.list().toArray()).length);
