import { describe, expect, it } from "vitest";
import { bodiesOf, recordsOf } from "./support/bodies.ts";
import { emulated, pathWith, readByReference } from "./support/endpoints.ts";
import { claimed, combined, createRender, placeOrder, unknownRef } from "./support/inputs.ts";
import { expectRefusal, type Service, startService } from "./support/service.ts";
import { exactly, expectShape, flag, integer, list, nothing, ref, text, timestamp } from "./support/shapes.ts";

const only = (kind: string) => exactly({ reference: ref(kind) });

async function minimal(): Promise<Service> {
  return startService({ shapes: "minimal", pageSize: 1000 });
}

describe("with only what the specification promises", () => {
  it.each(emulated)("%s: the response has no other field", async (_rule, endpoint, promises) => {
    await using service = await minimal();
    expectShape(new Map(await bodiesOf(service)).get(endpoint), promises);
  });

  it("2.1 kinds: a record that the table of endpoints says to be missing is missing", async () => {
    await using service = await minimal();
    const records = await recordsOf(service);
    for (const [rule, endpoint] of readByReference.filter(([, { notInEmulator }]) => notInEmulator)) {
      const { status } = await service.get(pathWith(endpoint, (kind) => records.get(kind) ?? unknownRef(kind)));
      expect([rule, status]).toEqual([rule, 404]);
    }
  });

  it("4.1 POST /auth/validate: `message` is promised", async () => {
    await using service = await minimal();
    expectShape((await service.post("/auth/validate")).body, exactly({ message: text }));
  });

  it("3.3 announced: the record of an announced product lacks what may be incomplete", async () => {
    await using service = await minimal();
    const { body } = await service.get(`/products/${service.demo.products.slimCaseFold}`);
    const known = { reference: ref("Product"), name: text, status: text, legacyItemSKU: text };
    expectShape(body, exactly({ product: exactly({ ...known, weightGrams: nothing, media: list(exactly({})) }) }));
  });

  it("2.9 thumbhash: a render that is not completed has no files", async () => {
    await using service = await minimal();
    const render = await createRender(service);
    const { body } = await service.get(`/renders/${render}`);
    const known = { reference: ref("Render"), compositionReference: ref("Composition"), imageReference: ref("Image") };
    expectShape(body, exactly({ render: exactly({ ...known, status: text, created: timestamp }) }));
  });

  it("2.8 decision, 2.8 claimline decision: a decided claim has its decisions, without the comments that nobody wrote", async () => {
    await using service = await minimal();
    const { claim } = await claimed(service);
    service.emulator.reviewClaim(claim, { decision: "refund" });
    const { decision, claimlines } = (await service.get(`/claims/${claim}`)).body.claim;
    expectShape(decision, exactly({ decided: timestamp, refundShippingCosts: flag, comment: nothing }));
    const quantities = { replacementQuantity: integer, refundQuantity: integer, rejectionQuantity: integer };
    expectShape(claimlines[0].decision, exactly({ ...quantities, comment: nothing }));
  });

  it("1 combined: the level of a combined shipment is not shown, so it has no tracking", async () => {
    await using service = await minimal();
    const order = await placeOrder(service, combined);
    const { body } = await service.get(`/shipments/${service.emulator.ship(order)}`);
    expectShape(body, exactly({ shipment: exactly({ reference: ref("Shipment"), orders: list(only("Order")) }) }));
    expect((await service.get(`/orders/${order}`)).body.order).not.toHaveProperty("dropshipAddressReference");
  });

  it("4.3 layer images, 4.3 render media, 4.3 example images, 4.6 rule 3, 7 status 202: a response has the cache headers and the Retry-After that are promised, and no others", async () => {
    await using service = await minimal();
    const names = ["cache-control", "etag", "last-modified", "retry-after"];
    const headersOf = async (path: string, headers?: Record<string, string>) => {
      const response = await service.get(path, headers);
      return [response.status, ...names.filter((name) => response.headers.has(name))];
    };
    const render = await createRender(service);
    expect(await headersOf(`/renders/${render}`)).toEqual([200]);
    expect(await headersOf(`/renders/${render}/media`)).toEqual([202, "retry-after"]);
    expect(await headersOf(`/renders/${render}/thumbnail`)).toEqual([202, "retry-after"]);
    service.emulator.completeRender(render);
    expect(await headersOf(`/renders/${render}`)).toEqual([200]);
    expect(await headersOf(`/renders/${render}/media`)).toEqual([200, "cache-control"]);
    expect(await headersOf(`/renders/${render}/media`, { "If-None-Match": "*" })).toEqual([200, "cache-control"]);
    expect(await headersOf(`/renders/${render}/thumbnail`)).toEqual([200, "cache-control"]);
    const product = `/products/${service.demo.products.slimCase}`;
    expect(await headersOf(`${product}/media/render.png`)).toEqual([200, "cache-control"]);
    const ofExample = [200, "cache-control", "etag", "last-modified"];
    expect(await headersOf(`${product}/media/example.png`)).toEqual(ofExample);
    expect(await headersOf(`${product}/layers/base.png`)).toEqual([200, "etag", "last-modified"]);
    expect(await headersOf(`${product}/layers/base.png`, { "If-None-Match": "*" })).toEqual([
      304,
      "etag",
      "last-modified",
    ]);
    expect(await headersOf("/products")).toEqual([200]);
  });

  it("7 rule 1: a 4xx has its error object", async () => {
    await using service = await minimal();
    expectRefusal(await service.get("/orders/Order_x"), 400);
    expectRefusal(await service.get("/nowhere"), 404);
    expectRefusal(await service.send("GET", "/orders", { key: null }), 401);
  });
});
