/** A worker takes orders from a queue and places each once, even if an earlier worker was killed during a request. */
import { type IdentifiedOrderInput, PodPartner } from "pod-partner";
import { createEmulator, sampleImage } from "pod-partner/testing";

const emulator = createEmulator();
const connect = () => new PodPartner(emulator.clientOptions);
const partner = connect();

/** How long the service may work on a request: the default of `assumptions.processingTime`. */
const processingTime = 30_000;

/** A row of your queue or table. */
interface Job {
  order: IdentifiedOrderInput;
  /** When a worker last took this job; null before the first. Store it before you place the order. */
  takenAt: number | null;
}

async function work(job: Job): Promise<void> {
  // An earlier worker may have just sent the order. The service may still be working on it, so one look-up cannot decide.
  const lookFor = job.takenAt === null ? 0 : Math.max(0, job.takenAt + processingTime - Date.now());
  job.takenAt = Date.now();
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

// Another worker sends the order and is killed while the service works on it. This demonstration says that it took the job 29 s ago.
const interrupted: Job = { order: order("shop-1"), takenAt: Date.now() - 29_000 };
const killed = new AbortController();
emulator.faults.add({ on: "orders.create", nth: 1, fault: "slow", ms: 500, when: "before" });
const earlier = connect().orders.ensure(interrupted.order, { signal: killed.signal });
setTimeout(() => killed.abort(), 100);
await earlier.catch(() => console.log("a worker was killed"));

for (const job of [interrupted, { order: order("shop-2"), takenAt: null }]) await work(job);
console.log("orders:", (await partner.orders.list().toArray()).length);
