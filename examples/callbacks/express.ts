/** Receives order-updated callbacks with Express. */
import express from "express";
import { type Order, PodPartner } from "pod-partner";
import { createOrderUpdatedReceiver } from "pod-partner/callbacks";

/** Your own code: store the order as it is now. The same news may come twice. `signal` aborts when it takes too long. */
async function save({ reference, orderlines }: Order, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  console.log(reference, "shipped", orderlines.map((line) => `${line.shippedQuantity} of ${line.quantity}`).join(", "));
}

// The callback URL in the dashboard is https://your.host/callbacks/orders?token=… with the same token: letters and digits.
const { CALLBACK_TOKEN: token, PORT: port = "3000" } = process.env;
if (!token) throw new Error("CALLBACK_TOKEN is not set");

const receiver = createOrderUpdatedReceiver({
  partner: new PodPartner(), // reads POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY
  token,
  environment: "test",
  onOrderUpdated: ({ order, signal }) => save(order, signal),
});

const app = express();
app.get("/callbacks/orders", receiver.node);

const server = app.listen(Number(port), () => console.log("port", Object(server.address()).port));
process.once("SIGTERM", async () => {
  await receiver.close(); // first: callbacks in work get their response
  server.close();
});
