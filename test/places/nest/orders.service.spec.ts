import "reflect-metadata";
import { writeFileSync } from "node:fs";
import { Test } from "@nestjs/testing";
import { PodPartner } from "pod-partner";
import { createEmulator, validOrder } from "pod-partner/testing";
import { OrdersService } from "./orders.service";
import { day } from "./program";

describe("OrdersService", () => {
  it("finds an order in the emulator", async () => {
    const emulator = createEmulator();
    const partner = new PodPartner(emulator.clientOptions);
    const module = await Test.createTestingModule({
      providers: [OrdersService, { provide: PodPartner, useValue: partner }],
    }).compile();
    const orders = module.get(OrdersService);
    expect(await orders.has("shop-1")).toBe(false);
    await partner.orders.ensure(validOrder(emulator, { customIdentifier: "shop-1" }));
    expect(await orders.has("shop-1")).toBe(true);
  });

  it("makes the calls of a day", async () => {
    const result = await day(JSON.parse(process.env.INPUT ?? ""));
    writeFileSync("result.json", JSON.stringify(result));
  }, 60_000);
});
