import { expect, it } from "vitest";
import { day } from "./support/clock.ts";
import {
  claimed,
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

type Parcel = Awaited<ReturnType<typeof shipped>>;

const claimItems = (service: Service, parcel: Parcel, line?: Readonly<Record<string, unknown>>) =>
  service.post("/claim-item-issues", itemClaim(service, parcel, line));

it("4.9 POST /claim-item-issues: it has the claim's reference, with and without a comment", async () => {
  await using service = await startService();
  const parcel = await shipped(service);
  const { claim } = itemClaim(service, parcel);
  for (const comment of [undefined, "", "The print is upside down"]) {
    const created = await service.post("/claim-item-issues", { claim: { ...claim, comment } });
    expectCreated(created);
    expectShape(created.body, object({ claim: object({ reference: ref("Claim") }) }));
    expect((await readClaim(service, created.body.claim.reference)).comment).toBe(comment ?? "");
  }
});

it("4.9 POST /claim-item-issues, 8 limit comment: 1000 characters are accepted, 1001 are refused", async () => {
  await using service = await startService();
  const { claim } = itemClaim(service, await shipped(service));
  expectRefusal(await service.post("/claim-item-issues", { claim: { ...claim, comment: "x".repeat(1001) } }), 400);
  expectCreated(await service.post("/claim-item-issues", { claim: { ...claim, comment: "x".repeat(1000) } }));
});

it("4.9 POST /claim-item-issues: at least one line, of a quantity of at least one", async () => {
  await using service = await startService();
  const parcel = await shipped(service);
  const { claim } = itemClaim(service, parcel);
  expectRefusal(await service.post("/claim-item-issues", { claim: { ...claim, claimlines: [] } }), 400);
  for (const quantity of [0, -1, 0.5]) expectRefusal(await claimItems(service, parcel, { quantity }), 400);
});

const listed = async (service: Service, query = "") => {
  const { claims } = (await service.get(`/claims${query}`)).body;
  return claims.map(({ reference }: { reference: string }) => reference);
};

it("4.9 GET /claims, 8 limit closed claims: open claims stay, closed ones are listed for 14 days", async () => {
  await using service = await startService();
  const open = (await claimed(service)).claim;
  const decided = (await claimed(service)).claim;
  const retracted = (await claimed(service)).claim;
  service.emulator.reviewClaim(decided, { decision: "rejection" });
  await service.post(`/claims/${retracted}/retract`);
  service.clock.advance(14 * day - 1000);
  expect((await listed(service)).sort()).toEqual([open, decided, retracted].sort());
  service.clock.advance(2000);
  expect(await listed(service)).toEqual([open]);
});

it("4.9 GET /claims: closedAfter selects the closed claims by their time, and keeps the open ones", async () => {
  await using service = await startService();
  const open = (await claimed(service)).claim;
  const early = (await claimed(service)).claim;
  const late = (await claimed(service)).claim;
  service.emulator.reviewClaim(early, { decision: "refund" });
  service.clock.advance(day);
  const between = encodeURIComponent(new Date(service.clock.now()).toISOString());
  service.clock.advance(day);
  await service.post(`/claims/${late}/retract`);
  service.clock.advance(60 * day);
  expect((await listed(service, `?closedAfter=${between}`)).sort()).toEqual([late, open].sort());
  expect(await listed(service, "?closedAfter=2020-01-01T00:00:00Z")).toHaveLength(3);
  for (const wrong of ["yesterday", "14", "2026-13-01T00:00:00Z"]) {
    expectRefusal(await service.get(`/claims?closedAfter=${wrong}`), 400);
  }
});

it("4.9 POST /claims/{claimReference}/retract, 3.1 retracted: 204 without a body; 409 when not pending; 404", async () => {
  await using service = await startService();
  const { claim } = await claimed(service);
  const retract = () => service.post(`/claims/${claim}/retract`);
  const { status, bytes } = await retract();
  expect([status, bytes.byteLength]).toEqual([204, 0]);
  expect((await readClaim(service, claim)).status).toBe("retracted");
  expectRefusal(await retract(), 409);
  expectRefusal(await service.post(`/claims/${unknownRef("Claim")}/retract`), 404);
});

it("4.9 items rule 1, 8 limit warranty: a claim is possible for 100 days, and not afterwards", async () => {
  await using service = await startService();
  const parcel = await shipped(service);
  service.clock.advance(100 * day);
  expectCreated(await claimItems(service, parcel));
  service.clock.advance(1000);
  expectRefusal(await claimItems(service, parcel), "4xx");
});

it("4.9 items rule 2, 7 code order_not_in_shipment: an order of another shipment has 400", async () => {
  await using service = await startService();
  const [one, other] = [await shipped(service), await shipped(service)];
  const mixed = { order: one.order, shipment: other.shipment };
  expectRefusal(await claimItems(service, mixed), 400, "order_not_in_shipment");
});

it("4.9 items rule 2, 7 code orderline_not_in_shipment: a line of another shipment has 400", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  const first = service.emulator.ship(order, { lines: [{ index: 1, quantity: 3 }] });
  const second = service.emulator.ship(order);
  for (const [shipment, orderlineIndex] of [
    [first, 2],
    [second, 1],
    [first, 3],
  ] as const) {
    expectRefusal(await claimItems(service, { order, shipment }, { orderlineIndex }), 400, "orderline_not_in_shipment");
  }
  expectCreated(await claimItems(service, { order, shipment: second }, { orderlineIndex: 2 }));
});

it("4.9 items rule 2: a combined shipment accepts claims about each of its orders", async () => {
  await using service = await startService();
  const orders = [await placeOrder(service, combined), await placeOrder(service, combined)];
  const shipment = service.emulator.ship(orders);
  for (const order of orders) expectCreated(await claimItems(service, { order, shipment }));
});

it("4.9 items rule 3: open claims count against the shipped quantity, retracted ones do not", async () => {
  await using service = await startService();
  const parcel = await shipped(service);
  expectRefusal(await claimItems(service, parcel, { quantity: 4 }), "4xx");
  const first = await claimItems(service, parcel, { quantity: 2 });
  expectCreated(first);
  expectRefusal(await claimItems(service, parcel, { quantity: 2 }), "4xx");
  expectCreated(await claimItems(service, parcel, { quantity: 1 }));
  await service.post(`/claims/${first.body.claim.reference}/retract`);
  expectCreated(await claimItems(service, parcel, { quantity: 2 }));
});

it("4.9 items rule 3: the lines of one claim count together", async () => {
  await using service = await startService();
  const { claim } = itemClaim(service, await shipped(service), { quantity: 2 });
  const claimlines = [...claim.claimlines, ...claim.claimlines];
  expectRefusal(await service.post("/claim-item-issues", { claim: { ...claim, claimlines } }), "4xx");
});

it("4.9 items rule 3: the quantity of this shipment counts, not that of the order", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  const shipment = service.emulator.ship(order, { lines: [{ index: 1, quantity: 1 }] });
  service.emulator.ship(order);
  expectRefusal(await claimItems(service, { order, shipment }, { quantity: 2 }), "4xx");
});

it("4.9 items rule 4, 8 limit evidence: three photos are accepted, four are refused", async () => {
  await using service = await startService();
  const parcel = await shipped(service);
  const photos = [];
  for (const name of ["a", "b", "c", "d"]) photos.push(await evidenceOf(service, name));
  expectRefusal(await claimItems(service, parcel, { evidenceReferences: photos }), 400);
  expectCreated(await claimItems(service, parcel, { evidenceReferences: photos.slice(1) }));
  expectRefusal(await claimItems(service, parcel, { evidenceReferences: [unknownRef("Evidence")] }), "4xx");
});

it("4.9 items rule 5, 7 code evidence_required: a category decides whether a photo is required", async () => {
  await using service = await startService();
  const parcel = await shipped(service);
  const { claimcategories } = (await service.get("/claimcategories")).body;
  for (const { reference, name, evidenceRequired } of claimcategories) {
    if (name === "Package missing") continue;
    const category = { claimcategoryReference: reference };
    const without = await claimItems(service, parcel, category);
    if (!evidenceRequired) expectCreated(without);
    else expectRefusal(without, "4xx", "evidence_required");
    const photo = { ...category, evidenceReferences: [await evidenceOf(service, name)] };
    if (evidenceRequired) expectCreated(await claimItems(service, parcel, photo));
  }
});

it("4.9 items rule 6, 7 code package_missing_category_not_allowed: the reserved category has 400", async () => {
  await using service = await startService();
  const { packageMissing } = service.demo.claimcategories;
  const refused = await claimItems(service, await shipped(service), { claimcategoryReference: packageMissing });
  expectRefusal(refused, 400, "package_missing_category_not_allowed");
});

it("4.9 items rule 6: a category that does not exist is refused", async () => {
  await using service = await startService();
  const claimcategoryReference = unknownRef("Claimcategory");
  expectRefusal(await claimItems(service, await shipped(service), { claimcategoryReference }), "4xx");
});
