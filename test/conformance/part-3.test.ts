import { expect, it } from "vitest";
import { runControl, tryControl } from "./support/controls.ts";
import {
  address,
  claimed,
  createRender,
  placeOrder,
  readClaim,
  readOrder,
  renderInput,
  sendOrder,
} from "./support/inputs.ts";
import { expectCreated, expectRefusal, type Service, startService } from "./support/service.ts";
import { expectShape, filled, object } from "./support/shapes.ts";

const statusOf = async (service: Service, claim: string) => (await readClaim(service, claim)).status;

it.each(["replacement", "refund"] as const)("3.1 resolved: a %s makes a claim resolved", async (decision) => {
  await using service = await startService();
  const { claim } = await claimed(service);
  service.emulator.reviewClaim(claim, { decision });
  expect(await statusOf(service, claim)).toBe("resolved");
});

it("3.1 rejected: a denial makes a claim rejected, with its decision", async () => {
  await using service = await startService();
  const { claim } = await claimed(service);
  service.emulator.reviewClaim(claim, { decision: "rejection", comment: "Not ours" });
  const { status, decision } = await readClaim(service, claim);
  expect([status, decision.comment]).toEqual(["rejected", "Not ours"]);
});

it("3.1 final: a closed claim cannot be retracted and keeps its state", async () => {
  await using service = await startService();
  for (const decision of ["refund", "rejection", "retraction"] as const) {
    const { claim } = await claimed(service);
    if (decision === "retraction") await service.post(`/claims/${claim}/retract`);
    else service.emulator.reviewClaim(claim, { decision });
    const before = await readClaim(service, claim);
    service.clock.advance(1000);
    expectRefusal(await service.post(`/claims/${claim}/retract`), 409);
    expect(await readClaim(service, claim)).toEqual(before);
  }
});

const renderOf = async (service: Service, reference: string) =>
  (await service.get(`/renders/${reference}`)).body.render;

it("3.2 creation: a new render is pending", async () => {
  await using service = await startService();
  expect((await renderOf(service, await createRender(service))).status).toBe("pending");
});

it("3.2 completed: a finished render has its files and a thumbhash", async () => {
  await using service = await startService();
  const render = await createRender(service);
  service.emulator.completeRender(render);
  const body = await renderOf(service, render);
  expect(body.status).toBe("completed");
  expectShape(body, object({ thumbhash: filled, media: object(), thumbnail: object() }));
  expect((await service.get(`/renders/${render}/media`)).status).toBe(200);
});

it("3.2 failed: a render whose processing fails is failed, and has no files", async () => {
  await using service = await startService();
  const render = await createRender(service);
  service.emulator.failRender(render);
  expect((await renderOf(service, render)).status).toBe("failed");
  expectRefusal(await service.get(`/renders/${render}/media`), "4xx");
});

const stages = {
  announced: "slimCaseFold",
  prelaunched: "slimCaseNext",
  launched: "slimCase",
  sunsetted: "slimCase15",
  ended: "slimCase13",
  archived: "slimCase8",
} as const;
type Stage = keyof typeof stages;

/** Where a product of a stage is visible, and the response to an order of it. */
async function stageOf(service: Service, stage: Stage) {
  const reference = service.demo.products[stages[stage]];
  const { products } = (await service.get("/products")).body;
  const { imageReference } = (await renderInput(service)).render;
  const orderlines = [{ productReference: reference, imageReference, quantity: 1 }];
  const ordered = await sendOrder(service, { orderlines });
  const listed = products.filter((product: { reference: string }) => product.reference === reference);
  return {
    listed: listed.map(({ status }: { status: string }) => status),
    read: await service.get(`/products/${reference}`),
    ordered,
  };
}

it("3.3 announced: an announced product is in the list and has a record", async () => {
  await using service = await startService();
  const { listed, read, ordered } = await stageOf(service, "announced");
  expect([listed, read.status]).toEqual([["announced"], 200]);
  expectRefusal(ordered, "4xx", "product_not_orderable");
});

it.each([
  ["3.3 prelaunched", "prelaunched"],
  ["3.3 launched", "launched"],
  ["3.3 sunsetted", "sunsetted"],
] as const)("%s: the product is in the list, has a record and can be ordered", async (_, stage) => {
  await using service = await startService();
  const { listed, read, ordered } = await stageOf(service, stage);
  expect([listed, read.status]).toEqual([[stage], 200]);
  expectCreated(ordered);
});

it("3.3 prelaunched: an order is not produced or shipped before the launch of its product", async () => {
  await using service = await startService();
  const { ordered } = await stageOf(service, "prelaunched");
  const order = ordered.body.order.reference;
  for (const [name, input] of [
    ["startProduction", { order }],
    ["ship", { orders: order }],
  ] as const) {
    expect(await tryControl(service, name, input)).toMatchObject({ status: 400, body: { code: "refused" } });
  }
  const line = { index: 1, canceledQuantity: 0 };
  expect((await service.post(`/orders/${order}/cancel`, { orderlines: [line] })).status).toBe(204);
  service.emulator.updateProduct(service.demo.products.slimCaseNext, { status: "launched" });
  await runControl(service, "startProduction", { order });
  await runControl(service, "ship", { orders: order });
  expect((await readOrder(service, order)).orderlines[0].shippedQuantity).toBe(1);
});

it("3.3 ended: the product cannot be ordered, and an existing order of it is shipped", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  service.emulator.updateProduct(service.demo.products.slimCase, { status: "ended" });
  expectRefusal(await sendOrder(service), "4xx", "product_not_orderable");
  service.emulator.ship(order);
  expect((await readOrder(service, order)).orderlines[0].shippedQuantity).toBe(3);
});

it("3.3 archived: the product is not in the list, its record is gone, and it cannot be ordered", async () => {
  await using service = await startService();
  const { listed, read, ordered } = await stageOf(service, "archived");
  expect(listed).toEqual([]);
  expectRefusal(read, 410);
  expectRefusal(ordered, "4xx");
});

const isOpen = async (service: Service, order: string) =>
  (await service.put(`/orders/${order}/dropship-address`, { dropshipAddress: address })).status === 204;

it("3.4 fact 1: an order is open until its last unit is shipped or canceled", async () => {
  await using service = await startService();
  const order = await placeOrder(service);
  service.emulator.ship(order, { lines: [{ index: 1, quantity: 2 }] });
  expect(await isOpen(service, order)).toBe(true);
  await service.post(`/orders/${order}/cancel`, { orderlines: [{ index: 1, canceledQuantity: 1 }] });
  expect(await isOpen(service, order)).toBe(true);
  service.emulator.ship(order);
  expect(await isOpen(service, order)).toBe(false);
});
