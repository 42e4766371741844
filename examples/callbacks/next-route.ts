/** Receives order-updated callbacks with Next.js. The file is `app/callbacks/orders/route.ts`. */
import { type Order, PodPartner } from "pod-partner";
import { createOrderUpdatedReceiver, type OrderUpdatedReceiver } from "pod-partner/callbacks";

/** Your own code: store the order as it is now. The same news may come twice. `signal` aborts when it takes too long. */
async function save({ reference, orderlines }: Order, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  console.log(reference, "shipped", orderlines.map((line) => `${line.shippedQuantity} of ${line.quantity}`).join(", "));
}

function createReceiver(): OrderUpdatedReceiver {
  // The callback URL in the dashboard is https://your.host/callbacks/orders?token=… with the same token: letters and digits.
  const { CALLBACK_TOKEN: token } = process.env;
  if (!token) throw new Error("CALLBACK_TOKEN is not set");
  return createOrderUpdatedReceiver({
    partner: new PodPartner(), // reads POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY
    token,
    environment: "test",
    onOrderUpdated: ({ order, signal }) => save(order, signal),
  });
}

/** Created with the first callback: `next build` loads this file, too, without these variables. */
let receiver: OrderUpdatedReceiver | undefined;

export function GET(request: Request): Promise<Response> {
  receiver ??= createReceiver();
  return receiver.fetch(request);
}
