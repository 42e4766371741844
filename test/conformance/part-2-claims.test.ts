import { expect, it } from "vitest";
import { day } from "./support/clock.ts";
import { png } from "./support/images.ts";
import { claimed, evidenceOf, readClaim, shipped } from "./support/inputs.ts";
import { expectCreated, type Service, startService } from "./support/service.ts";
import {
  errorObject,
  expectShape,
  filled,
  flag,
  integer,
  list,
  nothing,
  nullOr,
  object,
  oneOf,
  ref,
  text,
  timestamp,
  url,
} from "./support/shapes.ts";

const category = object({ reference: ref("Claimcategory"), name: filled });

const summary = object({
  reference: ref("Claim"),
  orderReference: ref("Order"),
  status: oneOf("pending", "resolved", "rejected", "retracted"),
  claimcategories: list(category),
  created: timestamp,
  retracted: nullOr(timestamp),
  decided: nullOr(timestamp),
});

/** Ships an order and files a package-missing claim with a photo, when that is possible. */
async function packageClaim(service: Service) {
  const parcel = await shipped(service);
  service.clock.advance(30 * day);
  const evidence = await evidenceOf(service);
  const body = { claim: { shipmentReference: parcel.shipment, evidenceReferences: [evidence] } };
  const created = await service.post("/claim-package-missing", body);
  expectCreated(created);
  return { ...parcel, claim: created.body.claim.reference as `Claim_${string}` };
}

const summaries = async (service: Service) => (await service.get("/claims")).body.claims;

it("2.8 category: every category has a reference, a name and a flag", async () => {
  await using service = await startService();
  const { claimcategories } = (await service.get("/claimcategories")).body;
  const full = { reference: ref("Claimcategory"), name: filled, evidenceRequired: flag };
  expectShape(claimcategories, list(object(full)));
  const flags = claimcategories.map(({ evidenceRequired }: { evidenceRequired: boolean }) => evidenceRequired);
  expect(flags).toEqual(expect.arrayContaining([true, false]));
});

it("2.8 package missing: the category is in the list once, and a package-missing claim has it", async () => {
  await using service = await startService();
  const { claimcategories } = (await service.get("/claimcategories")).body;
  const reserved = claimcategories.filter(({ name }: { name: string }) => name === "Package missing");
  expect(reserved).toHaveLength(1);
  const { claimlines } = await readClaim(service, (await packageClaim(service)).claim);
  for (const { claimcategory } of claimlines) expect(claimcategory.reference).toBe(reserved[0].reference);
});

it("2.8 list: pending, retracted and decided claims have the seven fields", async () => {
  await using service = await startService();
  const pending = await claimed(service);
  const retracted = await claimed(service);
  const decided = await claimed(service);
  await service.post(`/claims/${retracted.claim}/retract`);
  service.emulator.reviewClaim(decided.claim, { decision: "refund" });
  const claims = await summaries(service);
  expectShape(claims, list(summary));
  const now = new Date(service.clock.now()).toISOString();
  const times = (claim: string) => {
    const entry = claims.find(({ reference }: { reference: string }) => reference === claim);
    return [entry.status, entry.retracted, entry.decided];
  };
  expect(times(pending.claim)).toEqual(["pending", null, null]);
  expect(times(retracted.claim)).toEqual(["retracted", now, null]);
  expect(times(decided.claim)).toEqual(["resolved", null, now]);
});

it("2.8 claim: it names its order, its shipment and who filed it", async () => {
  await using service = await startService();
  const { order, shipment, claim } = await claimed(service);
  const body = await readClaim(service, claim);
  expectShape(
    body,
    object({ reference: ref("Claim"), comment: text, createdBy: filled, created: timestamp, status: text }),
  );
  expect(body).toMatchObject({ reference: claim, orderReference: order, shipmentReference: shipment });
  expect(Date.parse(body.created)).toBe(service.clock.now());
});

it("2.8 retracted: it is null, and the time after a retraction", async () => {
  await using service = await startService();
  const { claim } = await claimed(service);
  expect((await readClaim(service, claim)).retracted).toBeNull();
  service.clock.advance(day);
  await service.post(`/claims/${claim}/retract`);
  const { retracted, decision } = await readClaim(service, claim);
  expect([Date.parse(retracted), decision]).toEqual([service.clock.now(), null]);
});

it("2.8 decision, 2.8 claimline decision, 3.1 creation: null while pending", async () => {
  await using service = await startService();
  const claim = await readClaim(service, (await claimed(service)).claim);
  expectShape(claim, object({ decision: nothing, claimlines: list(object({ decision: nothing })) }));
  const ofPackage = await readClaim(service, (await packageClaim(service)).claim);
  expect([claim.status, ofPackage.status]).toEqual(["pending", "pending"]);
});

it("2.8 decision: it has the time, the refund of shipping costs and the comment", async () => {
  await using service = await startService();
  const { claim } = await claimed(service);
  service.clock.advance(day);
  service.emulator.reviewClaim(claim, { decision: "refund", refundShippingCosts: true, comment: "Sorry" });
  const { decision } = await readClaim(service, claim);
  expectShape(decision, object({ decided: timestamp, refundShippingCosts: flag, comment: text }));
  expect(decision).toMatchObject({ refundShippingCosts: true, comment: "Sorry" });
  expect(Date.parse(decision.decided)).toBe(service.clock.now());
});

it.each([
  ["replacement", "replacementQuantity"],
  ["refund", "refundQuantity"],
  ["rejection", "rejectionQuantity"],
] as const)("2.8 claimline decision: a %s is in %s", async (decision, field) => {
  await using service = await startService();
  const { claim } = await claimed(service, { quantity: 2 });
  service.emulator.reviewClaim(claim, { decision, comment: "As seen" });
  const [line] = (await readClaim(service, claim)).claimlines;
  const quantities = { replacementQuantity: integer, refundQuantity: integer, rejectionQuantity: integer };
  expectShape(line.decision, object({ ...quantities, comment: text }));
  const none = { replacementQuantity: 0, refundQuantity: 0, rejectionQuantity: 0 };
  expect(line.decision).toMatchObject({ ...none, [field]: 2 });
});

it("2.8 evidenceUrls: a package-missing claim has them at claim level", async () => {
  await using service = await startService();
  const claim = await readClaim(service, (await packageClaim(service)).claim);
  expectShape(claim.evidenceUrls, list(url));
  expect(claim.evidenceUrls).toHaveLength(1);
  expect((await service.getUrl(claim.evidenceUrls[0])).bytes).toEqual(png("photo"));
});

it("2.8 evidenceUrls: an item-issues claim has them at its lines", async () => {
  await using service = await startService();
  const { claim } = await claimed(service, { evidenceReferences: [await evidenceOf(service)] });
  const { evidenceUrls, claimlines } = await readClaim(service, claim);
  expect(evidenceUrls).toEqual([]);
  expectShape(claimlines[0].evidenceUrls, list(url));
  expect((await service.getUrl(claimlines[0].evidenceUrls[0])).bytes).toEqual(png("photo"));
});

it("2.8 claimlines: a line has product, index, quantity, image, category, decision and URLs", async () => {
  await using service = await startService();
  const { claim } = await claimed(service, { quantity: 2 });
  const { claimlines } = await readClaim(service, claim);
  const line = object({
    productReference: ref("Product"),
    orderlineIndex: integer,
    quantity: integer,
    imageReference: ref("Image"),
    claimcategory: category,
    evidenceUrls: list(url),
  });
  expectShape(claimlines, list(line));
  const { slimCase: productReference } = service.demo.products;
  expect(claimlines).toMatchObject([{ productReference, orderlineIndex: 1, quantity: 2 }]);
});

it.each([
  [
    "decided",
    (service: Service, claim: `Claim_${string}`) => service.emulator.reviewClaim(claim, { decision: "refund" }),
  ],
  ["retracted", (service: Service, claim: `Claim_${string}`) => service.post(`/claims/${claim}/retract`)],
] as const)(
  "2.8 purge, 8 limit evidence retention: the evidence of a %s claim is gone after about four months",
  async (_, close) => {
    await using service = await startService();
    const { claim } = await claimed(service, { evidenceReferences: [await evidenceOf(service)] });
    await close(service, claim);
    service.clock.advance(100 * day);
    const [line] = (await readClaim(service, claim)).claimlines;
    expect((await service.getUrl(line.evidenceUrls[0])).status).toBe(200);
    service.clock.advance(40 * day);
    expect((await readClaim(service, claim)).claimlines[0].evidenceUrls).toEqual([]);
    const stale = await service.getUrl(line.evidenceUrls[0]);
    expectShape(stale.body, errorObject);
    expect([404, 410]).toContain(stale.status);
  },
);
