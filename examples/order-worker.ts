/** Workers place the orders of a queue, each once, even if one is killed during a request and its job comes again. */
import { type IdentifiedOrderInput, memoryStorage, PodPartner } from "pod-partner";
import { createEmulator, sampleImage } from "pod-partner/testing";

// An identifier that is sent twice makes two orders: only the client prevents it.
const emulator = createEmulator({ repeatedIdentifier: "create" });
/** What all workers share. Here they are clients of one process; for processes use Postgres, Redis or a file: docs/storage.md. */
const storage = memoryStorage();
const startWorker = () => new PodPartner({ ...emulator.clientOptions, storage });

async function work(worker: PodPartner, order: IdentifiedOrderInput, signal?: AbortSignal): Promise<void> {
  const { customIdentifier, reference, existed } = await worker.orders.ensure(order, { signal });
  console.log(customIdentifier, reference, existed ? "was there already" : "was placed");
}

const worker = startWorker();
const { reference: imageReference } = await worker.images.upload(sampleImage("a design"));
const order = (customIdentifier: string): IdentifiedOrderInput => ({
  storeReference: emulator.demo.stores.api,
  shippingKind: "combined",
  customIdentifier,
  orderlines: [{ productReference: emulator.demo.products.slimCase, imageReference, quantity: 1 }],
});

// A worker sends an order and is killed while the service works on it.
emulator.faults.add({ on: "orders.create", nth: 1, fault: "slow", ms: 500, when: "before" });
await work(startWorker(), order("shop-1"), AbortSignal.timeout(100)).catch(() => console.log("a worker was killed"));

// Another one takes its job, and looks up what was sent.
for (const customIdentifier of ["shop-1", "shop-2"]) await work(worker, order(customIdentifier));
console.log("orders:", (await worker.orders.list().toArray()).length);
