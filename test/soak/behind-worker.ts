/** Places orders and files claims with one client, and reports each outcome. */
import { PodPartner, PodPartnerError } from "../../src/index.ts";
import { concurrently } from "../../src/util/concurrency.ts";
import { sentAddress } from "../support/orders.ts";
import type { CallReport, ClientJob } from "./behind-messages.ts";
import { transportOf } from "./transport.ts";

const report = (result: CallReport) => process.send?.(result);

/** One order or claim to create, by its name at the service. */
interface Task {
  readonly name: string;
  readonly run: () => Promise<Pick<CallReport, "recovered" | "timeline">>;
}

function tasksOf(job: ClientJob): readonly Task[] {
  const { storeReference, productReference, baseUrl, secretKey, transport } = job;
  const partner = new PodPartner({ baseUrl, secretKey, ...transportOf(transport) });
  const place = async (customIdentifier: string) => {
    // The service returns an order's annotations, but not its identifier.
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
  // The claims are spread evenly among the orders.
  return orders.flatMap((name, at) => [
    { name, run: () => place(name) },
    ...claims.slice(Math.round(at * share), Math.round((at + 1) * share)),
  ]);
}

/** The messages of an error and its causes. */
const words = (error: unknown): string =>
  error instanceof Error && error.cause !== undefined ? `${error} Cause: ${words(error.cause)}` : String(error);

process.once("message", async (job: ClientJob) => {
  for await (const outcome of concurrently(tasksOf(job), job.concurrency, ({ run }) => run())) {
    const { name } = outcome.input;
    if (outcome.ok) report({ name, failure: undefined, ...outcome.value });
    else {
      const { error } = outcome;
      const timeline = error instanceof PodPartnerError ? error.timeline : [];
      report({ name, failure: words(error), recovered: false, timeline });
    }
  }
  process.disconnect();
});
