/** Places orders and files claims with one client, and tells what became of each. */
import { PodPartner, PodPartnerError } from "../../src/index.ts";
import { concurrently } from "../../src/util/concurrently.ts";
import { sentAddress } from "../support/orders.ts";
import type { ClientJob, Told } from "./behind-messages.ts";

const tell = (told: Told) => process.send?.(told);

/** One thing to make, by the name that the service will know it by. */
interface Task {
  readonly name: string;
  readonly run: () => Promise<Pick<Told, "recovered" | "timeline">>;
}

function tasksOf(job: ClientJob): readonly Task[] {
  const { storeReference, productReference, baseUrl, secretKey } = job;
  const partner = new PodPartner({ baseUrl, secretKey });
  const place = async (customIdentifier: string) => {
    // The service gives an order's annotations back, but not its identifier.
    const annotations = [{ key: "name", value: customIdentifier }];
    const orderlines = [{ productReference, quantity: 1, annotations }];
    const order = { storeReference, shippingKind: "dropship", customIdentifier, orderlines } as const;
    const call = partner.orders.create({ ...order, dropshipAddress: sentAddress });
    const { data, timeline } = await call.withResponse();
    return { recovered: data.recovered, timeline };
  };
  const claims = job.claims.map((claim) => ({
    name: claim.orderReference,
    run: async () => {
      const { data, timeline } = await partner.claims.createItemIssues(claim).withResponse();
      return { recovered: data.recovered, timeline };
    },
  }));
  const orders = Array.from({ length: job.orders }, (_, number) => `soak-${number}`);
  const share = claims.length / Math.max(1, orders.length);
  // Claims among the orders, evenly.
  return orders.flatMap((name, at) => [
    { name, run: () => place(name) },
    ...claims.slice(Math.round(at * share), Math.round((at + 1) * share)),
  ]);
}

/** What an error and its causes say. */
const words = (error: unknown): string =>
  error instanceof Error && error.cause !== undefined ? `${error} Cause: ${words(error.cause)}` : String(error);

process.once("message", async (job: ClientJob) => {
  for await (const outcome of concurrently(tasksOf(job), job.concurrency, ({ run }) => run())) {
    const { name } = outcome.input;
    if (outcome.ok) tell({ name, failure: undefined, ...outcome.value });
    else {
      const { error } = outcome;
      const timeline = error instanceof PodPartnerError ? error.timeline : [];
      tell({ name, failure: words(error), recovered: false, timeline });
    }
  }
  process.disconnect();
});
