import { describe, expect, it } from "vitest";
import { type Bench, placeOrder, problem, referenceOf, setUp, unknownReference } from "../support.ts";

const reference = (kind: string) => expect.stringMatching(referenceOf(kind));
const day = 86_400_000;

/** An order whose items are all shipped. */
async function shipped(bench: Bench, over: Record<string, unknown> = {}) {
  const orderReference = await placeOrder(bench, over);
  return { orderReference, shipmentReference: bench.emulator.ship(orderReference) };
}

type Shipped = Awaited<ReturnType<typeof shipped>>;

const issues = (bench: Bench, of: Shipped, line: Record<string, unknown> = {}, over: Record<string, unknown> = {}) =>
  bench.post("/claim-item-issues", {
    claim: {
      ...of,
      claimlines: [
        { orderlineIndex: 1, quantity: 1, claimcategoryReference: bench.demo.claimcategories.wrongItem, ...line },
      ],
      ...over,
    },
  });

const missing = (bench: Bench, { shipmentReference }: Shipped, over: Record<string, unknown> = {}) =>
  bench.post("/claim-package-missing", { claim: { shipmentReference, ...over } });

it("lists the categories", async () => {
  const { get, demo } = setUp();
  const { claimcategories } = (await get("/claimcategories")).body;
  expect(claimcategories).toHaveLength(4);
  expect(claimcategories).toContainEqual({
    reference: demo.claimcategories.misprint,
    name: "Misprint",
    evidenceRequired: true,
  });
  expect(claimcategories).toContainEqual({
    reference: demo.claimcategories.packageMissing,
    name: "Package missing",
    evidenceRequired: false,
  });
});

describe("item issues", () => {
  it("are filed as a claim, and returned completely", async () => {
    const bench = setUp();
    const of = await shipped(bench);
    const category = bench.demo.claimcategories.misprint;
    const evidence = await bench.evidence();
    const line = { claimcategoryReference: category, evidenceReferences: [evidence] };
    const created = await issues(bench, of, line, { comment: "Upside down" });
    expect(created).toMatchObject({ status: 200, body: { claim: { reference: reference("Claim") } } });
    const claim = created.body.claim.reference;
    const url = `http://emulator.test/v2/evidence/${evidence}`;
    expect((await bench.get(`/claims/${claim}`)).body).toEqual({
      claim: {
        reference: claim,
        ...of,
        status: "pending",
        comment: "Upside down",
        createdBy: reference("Key"),
        created: "2026-11-02T09:00:00.000Z",
        retracted: null,
        decision: null,
        evidenceUrls: [],
        claimlines: [
          {
            productReference: bench.demo.products.slimCase,
            orderlineIndex: 1,
            quantity: 1,
            imageReference: reference("Image"),
            claimcategory: { reference: category, name: "Misprint" },
            decision: null,
            evidenceUrls: [url],
          },
        ],
      },
    });
    expect((await bench.get("/claims")).body).toEqual({
      claims: [
        {
          reference: claim,
          orderReference: of.orderReference,
          status: "pending",
          claimcategories: [{ reference: category, name: "Misprint" }],
          created: "2026-11-02T09:00:00.000Z",
          retracted: null,
          decided: null,
        },
      ],
      nextCursor: null,
    });
    expect((await bench.get(`/evidence/${evidence}`)).headers.get("Content-Type")).toBe("image/png");
  });

  it("are refused with the specification's codes", async () => {
    const bench = setUp();
    const of = await shipped(bench);
    const { misprint, packageMissing } = bench.demo.claimcategories;
    const other = await placeOrder(bench);
    const code = async (line: Record<string, unknown>, over = {}) => problem(await issues(bench, of, line, over)).code;
    expect(await code({}, { orderReference: other })).toBe("order_not_in_shipment");
    expect(await code({ orderlineIndex: 3 })).toBe("orderline_not_in_shipment");
    expect(await code({ claimcategoryReference: misprint })).toBe("evidence_required");
    expect(await code({ claimcategoryReference: packageMissing })).toBe("package_missing_category_not_allowed");
    expect(await code({ claimcategoryReference: unknownReference("Claimcategory") })).toBe("unknown_input_error");
    expect(await code({ evidenceReferences: [unknownReference("Evidence")] })).toBe("unknown_input_error");
    expect(await code({}, { comment: "x".repeat(1001) })).toBe("unknown_input_error");
    expect(await code({ evidenceReferences: Array(4).fill(await bench.evidence()) })).toBe("unknown_input_error");
    expect((await bench.get("/claims")).body.claims).toEqual([]);
  });

  it("are limited to the shipped quantities, including those of open claims", async () => {
    const bench = setUp();
    const of = await shipped(bench);
    const claim = (await issues(bench, of, { quantity: 2 })).body.claim.reference;
    const refused = await issues(bench, of, { quantity: 2 });
    expect(problem(refused)).toEqual({ status: 409, code: "claimed_quantity_exceeds_shipped" });
    await bench.send("POST", `/claims/${claim}/retract`);
    expect((await issues(bench, of, { quantity: 3 })).status).toBe(200);
  });

  it.each(["refund", "replacement"] as const)("are limited by those that were settled with a %s", async (decision) => {
    const bench = setUp();
    const of = await shipped(bench);
    bench.emulator.reviewClaim((await issues(bench, of, { quantity: 2 })).body.claim.reference, { decision });
    expect(problem(await issues(bench, of, { quantity: 2 }))).toEqual({
      status: 409,
      code: "claimed_quantity_exceeds_shipped",
    });
    bench.emulator.reviewClaim((await issues(bench, of, { quantity: 1 })).body.claim.reference, { decision });
    expect((await issues(bench, of, { quantity: 1 })).status).toBe(409);
  });

  it("can be claimed again after a rejection", async () => {
    const bench = setUp();
    const of = await shipped(bench);
    const claim = (await issues(bench, of, { quantity: 3 })).body.claim.reference;
    bench.emulator.reviewClaim(claim, { decision: "rejection" });
    expect((await issues(bench, of, { quantity: 3 })).status).toBe(200);
  });

  it("of a combined shipment are limited order by order when its package was claimed as missing", async () => {
    const bench = setUp();
    const combined = { shippingKind: "combined", dropshipAddress: undefined };
    const orders = [await placeOrder(bench, combined), await placeOrder(bench, combined)] as const;
    const shipmentReference = bench.emulator.ship(orders);
    await bench.clock.advance(10 * day);
    const { reference } = (await missing(bench, { shipmentReference, orderReference: orders[0] })).body.claim;
    for (const orderReference of orders) {
      expect((await issues(bench, { shipmentReference, orderReference })).status).toBe(409);
    }
    bench.emulator.reviewClaim(reference, { decision: "rejection" });
    for (const orderReference of orders) {
      expect((await issues(bench, { shipmentReference, orderReference }, { quantity: 3 })).status).toBe(200);
    }
  });

  it("are refused after the warranty of 100 days", async () => {
    const bench = setUp();
    const of = await shipped(bench);
    await bench.clock.advance(100 * day);
    expect((await issues(bench, of)).status).toBe(200);
    await bench.clock.advance(1);
    expect(problem(await issues(bench, of)).code).toBe("warranty_expired");
    expect(problem(await missing(bench, of)).code).toBe("warranty_expired");
  });
});

describe("a missing package", () => {
  it("can be claimed from the date in the refusal", async () => {
    const bench = setUp();
    const of = await shipped(bench);
    const early = await missing(bench, of);
    expect(problem(early)).toEqual({ status: 409, code: "shipment_too_recent" });
    expect(early.body.message).toContain("2026-11-06");
    await bench.clock.set("2026-11-05T22:59:59Z");
    expect((await missing(bench, of)).status).toBe(409);
    await bench.clock.advance(1000);
    const evidence = await bench.evidence();
    const created = await missing(bench, of, { evidenceReferences: [evidence] });
    const { claim } = (await bench.get(`/claims/${created.body.claim.reference}`)).body;
    expect(claim.evidenceUrls).toEqual([`http://emulator.test/v2/evidence/${evidence}`]);
    expect(claim.claimlines.map((line: { quantity: number }) => line.quantity)).toEqual([3, 1]);
    expect(claim.claimlines[0].claimcategory.name).toBe("Package missing");
    expect(problem(await missing(bench, of))).toEqual({ status: 409, code: "shipment_already_claimed" });
  });

  it("cannot be claimed before two calendar days after the shipping day", async () => {
    const bench = setUp();
    const of = await shipped(bench, { dropshipMinimalShippingLevel: "express" });
    await bench.clock.set("2026-11-03T22:59:59Z");
    expect((await missing(bench, of)).body.message).toContain("2026-11-04");
    await bench.clock.advance(1000);
    expect((await missing(bench, of)).status).toBe(200);
  });

  it("cannot be claimed when the order has a replacement", async () => {
    const bench = setUp();
    const orderReference = await placeOrder(bench);
    const first = bench.emulator.ship(orderReference, { lines: [{ index: 1, quantity: 1 }] });
    const second = bench.emulator.ship(orderReference);
    const claim = (await issues(bench, { orderReference, shipmentReference: first })).body.claim.reference;
    bench.emulator.reviewClaim(claim, { decision: "replacement" });
    await bench.clock.advance(10 * day);
    const refused = await missing(bench, { orderReference, shipmentReference: second });
    expect(problem(refused)).toEqual({ status: 409, code: "order_already_replaced" });
  });
});

describe("the life of a claim", () => {
  it("ends with a replacement, whose address is locked", async () => {
    const bench = setUp();
    const of = await shipped(bench);
    const claim = (await issues(bench, of, { quantity: 2 })).body.claim.reference;
    await bench.clock.advance(day);
    const replacement = bench.emulator.reviewClaim(claim, { decision: "replacement", comment: "Sorry" });
    const response = (await bench.get(`/claims/${claim}`)).body.claim;
    expect(response.status).toBe("resolved");
    expect(response.decision).toEqual({
      decided: "2026-11-03T09:00:00.000Z",
      refundShippingCosts: false,
      comment: "Sorry",
    });
    expect(response.claimlines[0].decision).toEqual({
      replacementQuantity: 2,
      refundQuantity: 0,
      rejectionQuantity: 0,
      comment: "Sorry",
    });
    const { order } = (await bench.get(`/orders/${replacement}`)).body;
    expect(order.orderlines).toMatchObject([{ index: 1, quantity: 2 }]);
    const dropshipAddress = { countryCode: "NL", email: "a@b.example" };
    const locked = await bench.put(`/orders/${replacement}/dropship-address`, { dropshipAddress });
    expect(problem(locked)).toEqual({ status: 409, code: "replacement_address_locked" });
  });

  it("ends with a rejection or a retraction, and then stays closed", async () => {
    const bench = setUp();
    const of = await shipped(bench);
    const claim = (await issues(bench, of)).body.claim.reference;
    expect(bench.emulator.reviewClaim(claim, { decision: "rejection" })).toBeNull();
    expect((await bench.get(`/claims/${claim}`)).body.claim.status).toBe("rejected");
    const refused = await bench.send("POST", `/claims/${claim}/retract`);
    expect(problem(refused)).toEqual({ status: 409, code: "claim_not_pending" });

    const other = (await issues(bench, of)).body.claim.reference;
    expect((await bench.send("POST", `/claims/${other}/retract`)).status).toBe(204);
    expect((await bench.get(`/claims/${other}`)).body.claim).toMatchObject({
      status: "retracted",
      retracted: "2026-11-02T09:00:00.000Z",
    });
    expect(() => bench.emulator.reviewClaim(other, { decision: "refund" })).toThrow("retracted");
  });

  it("is listed while it is open, and for 14 days after that, or since the requested time", async () => {
    const bench = setUp();
    const of = await shipped(bench);
    const closed = (await issues(bench, of)).body.claim.reference;
    await bench.send("POST", `/claims/${closed}/retract`);
    const open = (await issues(bench, of)).body.claim.reference;
    const listed = async (query = "") =>
      (await bench.get(`/claims${query}`)).body.claims.map((claim: { reference: string }) => claim.reference);
    await bench.clock.advance(14 * day);
    expect(await listed()).toEqual([open, closed]);
    await bench.clock.advance(1);
    expect(await listed()).toEqual([open]);
    expect(await listed("?closedAfter=2026-11-01T00:00:00Z")).toEqual([open, closed]);
    expect(problem(await bench.get("/claims?closedAfter=yesterday")).code).toBe("unknown_input_error");
  });
});

describe("evidence", () => {
  it("is deleted after a day when no claim uses it", async () => {
    const bench = setUp();
    const evidence = await bench.evidence();
    await bench.clock.advance(day - 1);
    expect((await bench.get(`/evidence/${evidence}`)).status).toBe(200);
    await bench.clock.advance(1);
    expect((await bench.get(`/evidence/${evidence}`)).status).toBe(404);
  });

  it("belongs to one claim, and is deleted four months after that claim is closed", async () => {
    const bench = setUp();
    const of = await shipped(bench);
    const evidenceReferences = [await bench.evidence()];
    const claim = (await issues(bench, of, { evidenceReferences })).body.claim.reference;
    expect(problem(await issues(bench, of, { evidenceReferences })).code).toBe("unknown_input_error");
    bench.emulator.reviewClaim(claim, { decision: "refund" });
    const urls = async () => (await bench.get(`/claims/${claim}`)).body.claim.claimlines[0].evidenceUrls;
    await bench.clock.set("2027-03-02T08:59:59Z");
    expect(await urls()).toHaveLength(1);
    await bench.clock.advance(1000);
    expect(await urls()).toEqual([]);
    expect((await bench.get(`/evidence/${evidenceReferences[0]}`)).status).toBe(404);
  });
});
