/** "Too late to cancel" is an outcome, not a failure. */
import { ConflictError, type OrderReference, PodPartner } from "pod-partner";
import { createEmulator } from "pod-partner/testing";

const emulator = createEmulator({ seed: { orders: 3 } });
const partner = new PodPartner(emulator.clientOptions);

type Cancellation = "canceled" | "nothing left" | "in production";

/** Cancels the remaining units of an order. It can be called again. */
async function cancelOrder(reference: OrderReference): Promise<Cancellation> {
  try {
    const { canceled } = await partner.orders.cancelRemaining(reference);
    return canceled.length > 0 ? "canceled" : "nothing left";
  } catch (error) {
    if (error instanceof ConflictError && error.code === "already_in_production") return "in production";
    throw error;
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
