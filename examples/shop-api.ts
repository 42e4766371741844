/**
 * Copies what the service says into a shop whose own API allows two calls a second. The SDK paces its calls by the service's headers;
 * p-throttle (`npm install p-throttle`) spaces the shop's.
 */
import pThrottle from "p-throttle";
import { type Order, PodPartner } from "pod-partner";
import { createEmulator } from "pod-partner/testing";

const emulator = createEmulator({ seed: { orders: 4 } });
const partner = new PodPartner(emulator.clientOptions);
for (const { reference } of await partner.orders.list().toArray({ limit: 2 })) emulator.ship(reference);

// In your program: a call of the shop's API, for example `fetch("https://shop.example/api/orders/…", { method: "PUT" })`.
async function updateShop({ legacyOrderCode, orderlines }: Order): Promise<void> {
  const open = orderlines.reduce((sum, line) => sum + line.quantity - line.canceledQuantity - line.shippedQuantity, 0);
  console.log(legacyOrderCode, open === 0 ? "is complete" : `waits for ${open}`);
}

// `strict`: never more than two in any second.
const inTurn = pThrottle({ limit: 2, interval: 1_000, strict: true })(updateShop);

const began = performance.now();
const updates: Promise<void>[] = [];
for await (const { reference } of partner.orders.list()) updates.push(inTurn(await partner.orders.get(reference)));
await Promise.all(updates);
console.log("orders:", updates.length, performance.now() - began >= 900 ? "at the shop's pace" : "too fast");
