import { expect, it } from "vitest";
import { place } from "./orders.ts";
import { describeInBrowser, useBrowser } from "./use-page.ts";

describeInBrowser("the orders of the emulator's page", () => {
  const { open } = useBrowser();

  it("shows an order that the client places, without a reload, and ships it by a click", async () => {
    const { page, partner, emulator, errors } = await open();
    await page.getByText("No orders").waitFor();
    const { reference } = await place(partner, emulator, "shop-1", 3);

    const order = page.getByRole("article", { name: "Order shop-1" });
    await order.getByText("received").waitFor();
    await order.getByRole("button", { name: "Ship all of shop-1" }).click();
    await order.getByText("shipped", { exact: true }).waitFor();
    const { orderlines } = await partner.orders.get(reference);
    expect(orderlines.map(({ shippedQuantity }) => shippedQuantity)).toEqual([3]);
    expect(errors).toEqual([]);
  });

  it("ships a part of an order, holds it, and releases it", async () => {
    const { page, partner, emulator } = await open();
    const { reference } = await place(partner, emulator, "shop-2", 5);
    const order = page.getByRole("article", { name: "Order shop-2" });

    await order.getByRole("button", { name: "shop-2", exact: true }).click();
    await order.getByRole("button", { name: "Ship some of shop-2" }).click();
    await order.getByRole("spinbutton").fill("2");
    await order.getByRole("button", { name: "Ship these" }).click();
    await order.getByText("2 shipped, 3 open").first().waitFor();

    await order.getByRole("button", { name: "Hold shop-2" }).click();
    await order.getByRole("textbox", { name: "Reason" }).fill("The colour is missing");
    await order.getByRole("button", { name: "Hold", exact: true }).click();
    await order.getByText("On hold: The colour is missing").waitFor();
    expect((await partner.orders.get(reference)).onHold?.reason).toBe("The colour is missing");
    expect(await order.getByRole("button", { name: "Ship all of shop-2" }).isDisabled()).toBe(true);

    await order.getByRole("button", { name: "Release shop-2" }).click();
    await order.getByRole("button", { name: "Start production of shop-2" }).click();
    await page.getByText("shop-2 is in production").waitFor();
    await expect(partner.orders.cancel(reference, [{ index: 1, canceledQuantity: 1 }])).rejects.toMatchObject({
      code: "already_in_production",
    });
  });

  it("offers an order to paste that the emulator accepts", async () => {
    const { page, emulator } = await open();
    const line = await page.getByText("-d '{").innerText();
    const body = /-d '(.*)'/.exec(line)?.[1] ?? "";
    const headers = { "X-Service-Secret-Key": emulator.secretKey, "Content-Type": "application/json" };
    expect((await fetch(`${emulator.baseUrl}/orders`, { method: "POST", headers, body })).status).toBe(200);
    await page.getByRole("article").waitFor();
  });

  it("shows why a control was refused", async () => {
    const { page, partner, emulator } = await open();
    const { reference } = await place(partner, emulator, "shop-3");
    await page.getByRole("article", { name: "Order shop-3" }).waitFor();
    await page.route("**/_emulator/state", (route) => route.abort());
    emulator.ship(reference);
    await page.getByRole("button", { name: "Ship all of shop-3" }).click();
    await page.getByText("has nothing left to ship").waitFor();
  });
});
