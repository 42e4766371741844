/** A process that places orders until each is placed; it may be killed at any moment and restarted with the same orders. */

import { sentAddress } from "../support/orders.ts";
import { clients, type SoakOrder } from "./clients.ts";
import type { Job, Progress } from "./messages.ts";

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
  let left = ordersOf(job);
  let failures = 0;
  for (let round = 1; round <= rounds && left.length > 0; round++) {
    const failed: SoakOrder[] = [];
    for await (const outcome of clients[job.client](left, job)) {
      const { customIdentifier } = outcome.input;
      if (outcome.ok) report({ customIdentifier, reference: outcome.value.reference as `Order_${string}` });
      else failed.push(outcome.input);
    }
    failures += failed.length;
    left = failed;
  }
  report({ failures });
  process.disconnect();
});
