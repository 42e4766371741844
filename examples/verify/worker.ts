/** Places orders from a queue, each once, whatever happens: `npx pod-partner verify -- node worker.ts`. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PodPartner, PodPartnerError } from "pod-partner";
import { sqliteStorage } from "pod-partner/sqlite";
import { sampleImage } from "pod-partner/testing";

/** What all processes share. It says which orders were sent, also by a process that was killed. */
const storage = sqliteStorage(join(process.env.POD_PARTNER_VERIFY_FOLDER ?? ".", "partner.db"));
// The emulator of `verify` works on an order for at most ten seconds, the real service for 30: the default. What `conform` measured wins.
const assumptions = process.env.POD_PARTNER_ASSUMPTIONS ? {} : { processingTime: 10_000 };
const partner = new PodPartner({ storage, timeout: 5_000, assumptions });

/** In place of a job queue: runs a job again for a minute, if it may be repeated. The SDK has already retried what a call can. */
async function persist<Result>(job: () => Promise<Result>): Promise<Result> {
  for (const until = Date.now() + 60_000; ; await sleep(1_000)) {
    try {
      return await job();
    } catch (error) {
      if (!(error instanceof PodPartnerError && error.isRetryable) || Date.now() > until) throw error;
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
  const { reference } = await persist(() => partner.orders.ensure(order));
  console.log(customIdentifier, reference);
}
