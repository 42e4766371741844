/** Iterates a list: by item, by page, only the first items, and with an early end. */
import { PodPartner } from "pod-partner";
import { createEmulator } from "pod-partner/testing";

const emulator = createEmulator({ seed: { orders: 120 }, pageSize: 50 });
const partner = new PodPartner(emulator.clientOptions);

// Each order comes once, in bounded memory. The next page is fetched while you work on this one.
let count = 0;
for await (const _order of partner.orders.list()) count += 1;
console.log("orders:", count);

// A list can be iterated again. Each iteration is a new chain of requests.
const orders = partner.orders.list({ prefetch: 0 });
for await (const { items, nextCursor } of orders.pages()) {
  console.log("a page of", items.length, nextCursor === null ? "the last" : "and more");
}

// The first items, in an array.
const newest = await orders.toArray({ limit: 3 });
console.log("newest:", newest.map(({ reference }) => reference).join(", "));

// Leaving the loop early cancels the request in progress. A signal does the same from outside.
const from = emulator.requests.length;
for await (const { reference } of partner.orders.list({ prefetch: 0 })) {
  const { orderlines } = await partner.orders.get(reference);
  if (orderlines.some(({ quantity }) => quantity === 3)) break;
}
console.log("pages read until a quantity of 3 was found:", pagesSince(from));

function pagesSince(index: number): number {
  return emulator.requests.slice(index).filter(({ path }) => /^\/orders(\?|$)/.test(path)).length;
}
