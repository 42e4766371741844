import { expect, it } from "vitest";
import { createRender, orderInput, quoteInput } from "./support/inputs.ts";
import { expectRefusal, startService } from "./support/service.ts";

it("9 rule 1: the base address ends in /v2, and other versions and no version have no endpoints", async () => {
  await using service = await startService();
  const { baseUrl } = service.emulator;
  expect(new URL(baseUrl).pathname).toBe("/v2");
  for (const root of ["", "/v1", "/v3", "/v22", "/V2"]) {
    const url = `${new URL(baseUrl).origin}${root}/stores`;
    const { status } = await service.getUrl(url, { "X-Service-Secret-Key": service.emulator.secretKey });
    expect([url, status]).toEqual([url, 404]);
  }
});

it("9 rule 6: RenderStatus has three values", async () => {
  await using service = await startService();
  const statuses = new Set<string>();
  for (const finish of [undefined, "completeRender", "failRender"] as const) {
    const render = await createRender(service, finish);
    if (finish !== undefined) service.emulator[finish](render);
    statuses.add((await service.get(`/renders/${render}`)).body.render.status);
  }
  expect([...statuses].sort()).toEqual(["completed", "failed", "pending"]);
});

it("9 rule 6: ShippingLevel and ShipmentKind accept no other value", async () => {
  await using service = await startService();
  for (const changes of [{ dropshipMinimalShippingLevel: "premium" }, { shippingKind: "pickup" }]) {
    expectRefusal(await service.post("/orders", await orderInput(service, changes)), 400);
    expectRefusal(await service.post("/quote", quoteInput(service, changes)), 400);
  }
});
