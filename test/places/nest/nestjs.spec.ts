import "reflect-metadata";
import { writeFileSync } from "node:fs";
import { Test } from "@nestjs/testing";
import { PodPartner } from "pod-partner";
import { startEmulator, validOrder } from "pod-partner/testing";
import { OrdersService, PodPartnerModule } from "./nestjs";
import { day } from "./program";

describe("the module of the cookbook", () => {
  it("places an order, and handles its callback once it is shipped", async () => {
    const emulator = await startEmulator();
    const token = "0d5b3c9a7e1f4826";
    process.env.CALLBACK_TOKEN = token;
    const { baseUrl, secretKey, demo } = emulator;
    const log = jest.spyOn(console, "log").mockImplementation(() => undefined);
    const module = await Test.createTestingModule({ imports: [PodPartnerModule] })
      .overrideProvider(PodPartner)
      .useValue(new PodPartner({ baseUrl, secretKey }))
      .compile();
    const app = module.createNestApplication({ logger: false });
    await app.listen(0, "127.0.0.1");
    const url = `${await app.getUrl()}/callbacks/orders?token=`;

    const { reference } = await app.get(OrdersService).place(validOrder(emulator, { customIdentifier: "shop-1" }));
    emulator.setCallbackUrl(demo.stores.api, `${url}${token}`);
    emulator.ship(reference);
    await emulator.callbacks.idle();
    expect(log.mock.calls.flat()).toContainEqual(expect.stringMatching(/shipped completed/));
    expect((await fetch(`${url}forged`)).status).toBe(403);
    await app.close();
    await emulator.close();
    log.mockRestore();
  });

  it("makes the calls of a day", async () => {
    const result = await day(JSON.parse(process.env.INPUT ?? ""));
    writeFileSync("result.json", JSON.stringify(result));
  }, 60_000);
});
