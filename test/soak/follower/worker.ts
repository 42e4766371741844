/** A partner's process: it receives callbacks, follows the orders, fails for some changes, and writes each hand-over to a file. */
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createOrderFollower,
  createOrderUpdatedReceiver,
  type OrderChanged,
  ReconcileError,
} from "../../../src/callbacks/index.ts";
import { PodPartner } from "../../../src/index.ts";
import { openStorage } from "../open-storage.ts";
import { createRandom } from "../random.ts";
import { transportOf } from "../transport.ts";
import type { HandoverLine, Swept, WorkerJob } from "./messages.ts";

/** The longest time that the handler takes, in milliseconds. */
const slowest = 15;

const stateOf = ({ order }: OrderChanged): string =>
  JSON.stringify([order.orderlines.map((line) => line.shippedQuantity), order.onHold?.reason ?? null]);

process.once(
  "message",
  async ({ baseUrl, secretKey, token, port, file, failing, seed, storage, transport }: WorkerJob) => {
    const random = createRandom(seed);
    const partner = new PodPartner({ baseUrl, secretKey, ...transportOf(transport) });
    const write = (line: HandoverLine) => appendFileSync(file, `${JSON.stringify(line)}\n`);
    const follower = createOrderFollower({
      partner,
      storage: await openStorage(storage),
      onChange: async (change) => {
        const line = { reference: change.order.reference, state: stateOf(change), changes: change.changes };
        write({ ...line, step: "begun" });
        await new Promise((resolve) => setTimeout(resolve, random() * slowest));
        if (random() < failing) throw new Error("The database is not available");
        write({ ...line, step: "done" });
      },
    });
    const receiver = createOrderUpdatedReceiver({
      follower,
      token,
      onError: () => {},
    });
    process.on("message", async (message: { follow: readonly `Order_${string}`[] } | "sweep") => {
      if (message === "sweep") {
        const began = performance.now();
        const swept = await follower.reconcile().then(
          ({ checked, changed }) => ({ checked, changed, failed: 0 }),
          (error: unknown) => {
            if (!(error instanceof ReconcileError)) throw error;
            return { ...error.result, failed: error.failed };
          },
        );
        process.send?.({ ...swept, took: performance.now() - began } satisfies Swept);
        return;
      }
      for (const reference of message.follow) await follower.follow(reference);
      process.send?.("followed");
    });
    const server = createServer((request, response) => void receiver.node(request, response));
    server.listen(port, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
  },
);
process.once("disconnect", () => process.exit());
