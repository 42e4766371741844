import { expect, it } from "vitest";
import { day, hour } from "./support/clock.ts";
import {
  address,
  combined,
  evidenceOf,
  itemClaim,
  placeOrder,
  readClaim,
  shipped,
  unknownRef,
} from "./support/inputs.ts";
import { expectCreated, expectRefusal, type Service, startService } from "./support/service.ts";
import { expectShape, object, ref } from "./support/shapes.ts";

const claimPackage = (service: Service, shipmentReference: string, evidenceReferences: readonly string[] = []) =>
  service.post("/claim-package-missing", { claim: { shipmentReference, evidenceReferences } });

/** A shipment whose delivery window has passed. */
async function overdue(service: Service, changes?: Readonly<Record<string, unknown>>) {
  const parcel = await shipped(service, changes);
  service.clock.advance(30 * day);
  return parcel;
}

it("4.9 POST /claim-package-missing: it has the claim's reference", async () => {
  await using service = await startService();
  const created = await claimPackage(service, (await overdue(service)).shipment);
  expectCreated(created);
  expectShape(created.body, object({ claim: object({ reference: ref("Claim") }) }));
});

it("4.9 POST /claim-package-missing, 8 limit evidence: 0 to 3 photos are accepted, 4 are refused", async () => {
  await using service = await startService();
  for (const count of [0, 1, 3, 4]) {
    const { shipment } = await overdue(service);
    const photos = [];
    for (let number = 0; number < count; number += 1) photos.push(await evidenceOf(service, `${count}-${number}`));
    const response = await claimPackage(service, shipment, photos);
    if (count > 3) expectRefusal(response, 400);
    else expectCreated(response);
  }
});

it("4.9 POST /claim-package-missing: a shipment that does not exist is refused", async () => {
  await using service = await startService();
  expectRefusal(await claimPackage(service, unknownRef("Shipment")), "4xx");
});

it("4.9 package rule 1: the claim has every line of a dropship shipment", async () => {
  await using service = await startService();
  const { order, shipment } = await overdue(service);
  const { reference } = (await claimPackage(service, shipment)).body.claim;
  const claim = await readClaim(service, reference);
  expect(claim).toMatchObject({ orderReference: order, shipmentReference: shipment });
  expect(claim.claimlines).toMatchObject([
    { orderlineIndex: 1, quantity: 3 },
    { orderlineIndex: 2, quantity: 2 },
  ]);
});

it("4.9 package rule 1: the claim has every line of each order of a combined shipment", async () => {
  await using service = await startService();
  const orders = [await placeOrder(service, combined), await placeOrder(service, combined)];
  const shipment = service.emulator.ship(orders);
  service.clock.advance(30 * day);
  const { reference } = (await claimPackage(service, shipment)).body.claim;
  const { claimlines } = await readClaim(service, reference);
  expect(claimlines.map(({ quantity }: { quantity: number }) => quantity)).toEqual([3, 2, 3, 2]);
});

it("4.9 package rule 1: only the quantity of this shipment is claimed", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  const shipment = service.emulator.ship(order, { lines: [{ index: 1, quantity: 2 }] });
  service.clock.advance(30 * day);
  const { reference } = (await claimPackage(service, shipment)).body.claim;
  expect((await readClaim(service, reference)).claimlines).toMatchObject([{ orderlineIndex: 1, quantity: 2 }]);
});

/** The date that a refusal names. */
async function dateOf(service: Service, shipment: string): Promise<string> {
  const refused = await claimPackage(service, shipment);
  expectRefusal(refused, "4xx", "shipment_too_recent");
  const date = /\d{4}-\d\d-\d\d/.exec(refused.body.message)?.[0];
  expect(date).toBeDefined();
  return date ?? "";
}

const levels = ["basic", "tracked", "express"] as const;

it("4.9 package rule 2: the window depends on the destination and the level", async () => {
  await using service = await startService();
  const dates: Record<string, string[]> = {};
  for (const countryCode of ["NL", "AU"]) {
    dates[countryCode] = [];
    for (const dropshipMinimalShippingLevel of levels) {
      const parcel = { dropshipMinimalShippingLevel, dropshipAddress: { ...address, countryCode } };
      dates[countryCode].push(await dateOf(service, (await shipped(service, parcel)).shipment));
    }
  }
  for (const ofLevels of Object.values(dates)) expect(ofLevels).toEqual([...ofLevels].sort().reverse());
  expect(new Set(dates.AU).size).toBe(3);
  for (const [index, date] of (dates.NL ?? []).entries()) expect(date < (dates.AU?.[index] ?? "")).toBe(true);
});

it.each(["2026-06-03T00:30:00+02:00", "2026-06-03T12:00:00+02:00", "2026-06-03T23:59:00+02:00"])(
  "4.9 package rule 3, 8 limit package-missing: an express shipment of %s is claimed two calendar days later at the soonest",
  async (start) => {
    await using service = await startService({ start });
    const { shipment } = await shipped(service, { dropshipMinimalShippingLevel: "express" });
    expect((await dateOf(service, shipment)) >= "2026-06-05").toBe(true);
    service.clock.set("2026-06-04T23:59:59+02:00");
    expectRefusal(await claimPackage(service, shipment), "4xx", "shipment_too_recent");
  },
);

it.each(levels)(
  "4.9 package rule 4, 7 code shipment_too_recent: a %s shipment is claimed from the named date on",
  async (level) => {
    await using service = await startService();
    const { shipment } = await shipped(service, { dropshipMinimalShippingLevel: level });
    const date = await dateOf(service, shipment);
    service.clock.set(new Date(Date.parse(`${date}T00:00:00Z`) - 3 * hour).toISOString());
    expect(await dateOf(service, shipment)).toBe(date);
    service.clock.set(`${date}T00:00:01Z`);
    expectCreated(await claimPackage(service, shipment));
  },
);

it("4.9 package rule 5, 8 limit warranty: a claim is possible for 100 days, and not afterwards", async () => {
  await using service = await startService();
  const [one, other] = [await shipped(service), await shipped(service)];
  service.clock.advance(100 * day);
  expectCreated(await claimPackage(service, one.shipment));
  service.clock.advance(1000);
  expectRefusal(await claimPackage(service, other.shipment), "4xx");
});

it("4.9 package rule 6: a shipment with a claim of either kind is refused", async () => {
  await using service = await startService();
  const one = await overdue(service);
  expectCreated(await claimPackage(service, one.shipment));
  expectRefusal(await claimPackage(service, one.shipment), "4xx");
  const other = await overdue(service);
  expectCreated(await service.post("/claim-item-issues", itemClaim(service, other)));
  expectRefusal(await claimPackage(service, other.shipment), "4xx");
});

it("4.9 package rule 7: an order with a replacement is refused, for another shipment, too", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  const first = service.emulator.ship(order, { lines: [{ index: 1, quantity: 1 }] });
  const second = service.emulator.ship(order);
  service.clock.advance(30 * day);
  const { reference } = (await claimPackage(service, first)).body.claim;
  service.emulator.reviewClaim(reference, { decision: "replacement" });
  expectRefusal(await claimPackage(service, second), "4xx");
});

it("4.9 package rule 7: an order whose claim was refunded has no replacement, so its next shipment is accepted", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  const first = service.emulator.ship(order, { lines: [{ index: 1, quantity: 1 }] });
  const second = service.emulator.ship(order);
  service.clock.advance(30 * day);
  const { reference } = (await claimPackage(service, first)).body.claim;
  service.emulator.reviewClaim(reference, { decision: "refund" });
  expectCreated(await claimPackage(service, second));
});
