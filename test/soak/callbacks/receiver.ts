/** A partner's process: it receives callbacks, fails for some of them, and writes each handled order to a file before it responds. */
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createOrderUpdatedReceiver } from "../../../src/callbacks/index.ts";
import { PodPartner } from "../../../src/index.ts";
import { createRandom } from "../random.ts";

/** The message that starts the process. A port of 0 is a free port. */
export interface ReceiverJob {
  readonly baseUrl: string;
  readonly secretKey: string;
  readonly token: string;
  readonly port: number;
  /** The file that each handled order is appended to. */
  readonly file: string;
  /** The part of the handlers that fail. */
  readonly failing: number;
  readonly seed: number;
}

process.once("message", ({ baseUrl, secretKey, token, port, file, failing, seed }: ReceiverJob) => {
  const random = createRandom(seed);
  const receiver = createOrderUpdatedReceiver({
    partner: new PodPartner({ baseUrl, secretKey }),
    token,
    onOrderUpdated: async ({ order, orderReference }) => {
      await new Promise(setImmediate);
      if (random() < failing) throw new Error("The database is not available");
      const shipped = order.orderlines.reduce((sum, { shippedQuantity }) => sum + shippedQuantity, 0);
      appendFileSync(file, `${orderReference} ${shipped}\n`);
    },
    onError: () => {},
  });
  const server = createServer((request, response) => void receiver.node(request, response));
  server.listen(port, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
});
process.once("disconnect", () => process.exit());
