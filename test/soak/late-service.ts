/** A service in a separate process that is sometimes slower than the gateway's timeout, and completes the request. */

import { startEmulator } from "../../src/emulator/index.ts";
import { type ItemIssuesInput, PodPartner } from "../../src/index.ts";
import { harsh } from "../support/harsh.ts";
import type { LateService, Made, ServiceJob } from "./behind-messages.ts";
import { createRandom } from "./random.ts";

const report = (message: LateService | Made) => process.send?.(message);
const share = 0.05;
const grades = 5;

async function serve({ claims, gatewayTimeout, slowest }: ServiceJob): Promise<void> {
  // Every third order of the seed has one item only.
  const seed = { orders: Math.ceil(claims * 1.5) + 1 };
  const emulator = await startEmulator({
    ...harsh,
    limits: { default: { quota: 1_000_000, window: 60_000 } },
    pageSize: 1_000,
    seed,
  });
  const { baseUrl, secretKey, fetch, demo, faults } = emulator;
  const insider = new PodPartner({ baseUrl, secretKey, fetch });
  const category = (await insider.claims.categories.list()).find(
    ({ evidenceRequired, name }) => !evidenceRequired && name !== "Package missing",
  );
  if (category === undefined) throw new Error("The catalog has no category that needs no evidence");

  const seeded = new Set<string>();
  const claimable: ItemIssuesInput[] = [];
  for await (const { reference } of insider.orders.list()) {
    seeded.add(reference);
    const { orderlines } = await insider.orders.get(reference);
    // A second claim about the only item of an order would be refused, and a duplicate would not be detected.
    if (orderlines[0]?.quantity === 1) continue;
    const claimlines = [{ orderlineIndex: 1, quantity: 1, claimcategoryReference: category.reference }];
    claimable.push({ orderReference: reference, shipmentReference: emulator.ship(reference), claimlines });
  }

  const random = createRandom(20_261_122);
  let roll = 1;
  for (let grade = 0; grade < grades; grade++) {
    const ms = gatewayTimeout * 1.5 + ((slowest - gatewayTimeout * 1.5) * grade) / (grades - 1);
    const nth = () => {
      // The first fault is evaluated first: it draws the random number for all.
      if (grade === 0) roll = random();
      return roll >= (share * grade) / grades && roll < (share * (grade + 1)) / grades;
    };
    faults.add({ fault: "slow", ms, when: "before", nth });
  }
  process.on("message", async () => {
    faults.clear();
    const orders: string[] = [];
    for await (const { reference } of insider.orders.list()) {
      if (seeded.has(reference)) continue;
      const { orderlines } = await insider.orders.get(reference);
      orders.push(orderlines[0]?.annotations[0]?.value ?? reference);
    }
    const filed = await insider.claims.list().toArray();
    report({ orders, claims: filed.map(({ orderReference }) => orderReference) });
  });
  const [storeReference, productReference] = [demo.stores.api, demo.products.screenProtector];
  report({ baseUrl, secretKey, storeReference, productReference, claims: claimable.slice(0, claims) });
}

process.once("message", (job: ServiceJob) => void serve(job));
process.once("disconnect", () => process.exit());
