/** "Too late to cancel" is an outcome, not a failure. */
import { ConflictError, type OrderReference, PodPartner } from "pod-partner";
import { createEmulator } from "pod-partner/testing";

const emulator = createEmulator({ seed: { orders: 3 } });
const partner = new PodPartner({ baseUrl: emulator.baseUrl, secretKey: emulator.secretKey, fetch: emulator.fetch });

type Cancellation = "canceled" | "in production" | "shipped" | "other";

/** Cancels all that is left of an order. A `canceledQuantity` is the line's absolute total, so it can be said again. */
async function cancelOrder(reference: OrderReference): Promise<Cancellation> {
  const { orderlines } = await partner.orders.get(reference);
  try {
    await partner.orders.cancel(
      reference,
      orderlines.map(({ index, quantity }) => ({ index, canceledQuantity: quantity })),
    );
    return "canceled";
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    if (error.code === "already_in_production") return "in production";
    if (error.code === "canceled_quantity_exceeds_shippable") return "shipped";
    return "other";
  }
}

const orders = await partner.orders.list().toArray();
const [received, produced, shipped] = orders.map(({ reference }) => reference);
if (received === undefined || produced === undefined || shipped === undefined) throw new Error("There are no orders");

emulator.startProduction(produced);
emulator.ship(shipped);

console.log("received:", await cancelOrder(received));
console.log("received, once more:", await cancelOrder(received));
console.log("in production:", await cancelOrder(produced));
console.log("shipped:", await cancelOrder(shipped));
