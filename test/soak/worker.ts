/** A process that places orders until each is placed; it may be killed at any moment and restarted with the same orders. */
import { type DropshipOrderInput, PodPartner } from "../../src/index.ts";
import { sentAddress } from "../support/orders.ts";
import type { Job, Progress } from "./messages.ts";

type SoakOrder = DropshipOrderInput & { readonly customIdentifier: string };

/** Rounds in which failed orders are retried. */
const rounds = 5;

const report = (progress: Progress) => process.send?.(progress);

const ordersOf = ({ orders, storeReference, productReference }: Job): readonly SoakOrder[] =>
  Array.from({ length: orders }, (_, number) => ({
    storeReference,
    shippingKind: "dropship",
    customIdentifier: `soak-${number}`,
    dropshipAddress: sentAddress,
    orderlines: [{ productReference, quantity: 1 }],
  }));

process.once("message", async (job: Job) => {
  const { baseUrl, secretKey, concurrency } = job;
  const partner = new PodPartner({ baseUrl, secretKey });
  let left = ordersOf(job);
  let failures = 0;
  for (let round = 1; round <= rounds && left.length > 0; round++) {
    const failed: SoakOrder[] = [];
    for await (const outcome of partner.orders.ensureMany(left, { concurrency })) {
      const { customIdentifier } = outcome.input;
      if (outcome.ok) report({ customIdentifier, reference: outcome.value.reference });
      else failed.push(outcome.input);
    }
    failures += failed.length;
    left = failed;
  }
  report({ failures });
  process.disconnect();
});
