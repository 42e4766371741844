/** Places orders from a queue, each once, whatever happens: `npx pod-partner verify -- node examples/verify/worker.ts`. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PodPartner, PodPartnerError } from "pod-partner";
import { sampleImage } from "pod-partner/testing";

/** How long the service may work on an order, and the time of a look-up after a restart. */
const processingTime = 10_000;
const partner = new PodPartner({ timeout: 5_000, assumptions: { processingTime } });

/** The queue: in production a table. It says which orders were taken. */
const file = join(process.env.POD_PARTNER_VERIFY_FOLDER ?? ".", "queue.json");
const taken: string[] = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];

/** Repeats a job for a minute, while it may succeed. An order that is repeated is not made twice. */
async function persist<Result>(job: () => Promise<Result>): Promise<Result> {
  for (const until = Date.now() + 60_000; ; await sleep(1_000)) {
    try {
      return await job();
    } catch (error) {
      const mayRepeat = error instanceof PodPartnerError && (error.isRetryable || error.name === "OutcomeUnknownError");
      if (!mayRepeat || Date.now() > until) throw error;
      console.warn(error.name, error.callId);
    }
  }
}

const stores = await persist(() => partner.organization.stores.list());
const products = await persist(() => partner.catalog.products.list().toArray());
const store = stores.find(({ integration }) => integration === "api");
const product = products.find(({ status }) => status === "launched");
if (store === undefined || product === undefined) throw new Error("There is no store for the API, or no product.");
const { reference: imageReference } = await persist(() => partner.images.uploadOnce(sampleImage("a design")));

for (const quantity of [1, 2, 3, 4, 5]) {
  const customIdentifier = `shop-${quantity}`;
  const orderlines = [{ productReference: product.reference, imageReference, quantity }];
  const order = { customIdentifier, storeReference: store.reference, shippingKind: "combined", orderlines } as const;
  // An earlier process was killed: the service may still be making its order, however long ago the order was taken.
  const lookFor = taken.includes(customIdentifier) ? processingTime : 0;
  taken.push(customIdentifier);
  writeFileSync(file, JSON.stringify(taken));
  const { reference } = await persist(() => partner.orders.ensure(order, { lookFor }));
  console.log(customIdentifier, reference);
}
