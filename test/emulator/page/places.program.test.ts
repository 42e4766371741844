import { PodPartner } from "pod-partner";
import { expect, it } from "vitest";
import { place } from "./orders.ts";
import { describeInBrowser, useBrowser } from "./use-page.ts";

describeInBrowser("the places of the emulator's page", () => {
  const { open } = useBrowser();

  it("have addresses, so that a reload and Back lead to the same place", async () => {
    const { page, partner, emulator } = await open();
    await place(partner, emulator, "shop-1");
    await page.getByRole("tab", { name: "Faults" }).click();
    await page.getByRole("option", { name: /orders\.create/ }).click();
    const details = page.getByRole("region", { name: "The opened request" });
    await details.getByRole("heading", { name: "orders.create" }).waitFor();
    expect(new URL(page.url()).hash).toBe("#/requests/2");

    await page.reload();
    await details.getByText('"customIdentifier": "shop-1"').waitFor();
    await page.goBack();
    await details.waitFor({ state: "detached" });
    expect(await page.getByRole("tab", { name: "Faults" }).getAttribute("aria-selected")).toBe("true");
  });

  it("are linked by references: of a request, of the timeline, of the notice, also to a record that is not there", async () => {
    const { page, partner, emulator } = await open();
    const { reference } = await place(partner, emulator, "shop-1");
    await partner.orders.get(reference);
    await page.getByRole("option", { name: /orders\.get/ }).click();
    await page.getByRole("link", { name: reference }).first().click();
    const order = page.getByRole("article", { name: "Order shop-1" });
    await order.getByRole("button", { name: "Hold shop-1" }).waitFor();

    await order.getByRole("button", { name: "Ship all of shop-1" }).click();
    const notice = page.getByText(/^Shipped shop-1 as Shipment_/);
    await notice.waitFor();
    const shipment = emulator.world().organizations[0]?.shipments[0]?.reference ?? "none";
    await notice.getByRole("link", { name: shipment }).waitFor();
    await order
      .getByRole("button", { name: `Copy ${shipment}` })
      .first()
      .waitFor();
    await page.getByRole("tab", { name: "Faults" }).click();
    await page.getByRole("option", { name: /\d ship Order_/ }).click();
    await order.waitFor();

    await page.evaluate('location.hash = "#/orders/Order_00000000000000000000000000"');
    await page.getByText("is not among the newest orders").waitFor();
  });

  it("keep cards in place under the pointer, and count those that came", async () => {
    const { page, partner, emulator } = await open();
    for (let made = 1; made <= 3; made += 1) await place(partner, emulator, `shop-${made}`);
    await page.getByRole("article", { name: "Order shop-3" }).waitFor();
    await page.getByRole("article", { name: "Order shop-2" }).hover();
    await place(partner, emulator, "shop-4");
    await page.getByRole("button", { name: "Show 1 new order" }).waitFor();
    expect(await page.getByRole("article").count()).toBe(3);
    await page.getByRole("button", { name: "Show 1 new order" }).click();
    await page.getByRole("article", { name: "Order shop-4" }).waitFor();
  });

  it("are the start for an address that is none", async () => {
    const { page, errors } = await open();
    await page.evaluate('location.hash = "#/orders/%E0%A4%A"');
    await page.reload();
    await page.getByText("No orders").waitFor();
    expect(errors).toEqual([]);
  });

  it("keep equal requests at the same time apart, and join those that follow each other, at any speed of the clock", async () => {
    const { page, partner, emulator } = await open();
    emulator.clock.resume({ speed: 3600 });
    emulator.faults.add({ on: "orders.list", fault: "slow", ms: 50 });
    const headers = { "X-Service-Secret-Key": emulator.secretKey };
    await Promise.all([1, 2].map(() => emulator.fetch(`${emulator.baseUrl}/orders`, { headers })));
    emulator.faults.clear();
    await page
      .getByRole("option", { name: /orders\.list/ })
      .nth(1)
      .waitFor();
    emulator.faults.add({ on: "organization.get", nth: 1, fault: "status", status: 503, when: "before" });
    await partner.organization.get();
    await page.getByRole("option", { name: /organization\.get ×2 503, 200/ }).waitFor();
  });

  it("say when the emulator has gone, and where the worlds are", async () => {
    const { page, emulator } = await open();
    const world = emulator.worlds.create({ name: "mine" });
    await page.goto(new URL("/worlds/other/", emulator.baseUrl).href);
    await page.getByRole("link", { name: "/worlds/mine/" }).click();
    await page.getByText("live", { exact: true }).waitFor();
    expect(await page.title()).toBe("mine · Emulator · pod-partner");
    const choice = page.getByRole("combobox", { name: "World" });
    await expect.poll(() => choice.inputValue()).toBe("mine");
    await place(new PodPartner(world.clientOptions), world, "shop-of-mine");
    await page.getByRole("article", { name: "Order shop-of-mine" }).waitFor();
    await choice.selectOption("main world");
    await page.getByText("No orders").waitFor();
    await emulator.close();
    await page.getByRole("alert").getByText("The emulator does not respond").waitFor();
  });

  it("say why a request ended so, and which requests belong to one call", async () => {
    const { page, partner, emulator } = await open();
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop" });
    emulator.faults.add({ on: "orders.create", nth: 2, fault: "drop", when: "before" });
    await place(partner, emulator, "shop-1");
    await place(partner, emulator, "shop-2");
    const details = page.getByRole("region", { name: "The opened request" });
    const why = details.getByRole("region", { name: "Why" });

    await page.getByRole("option", { name: /×2 lost, look-up 200/ }).click();
    await why
      .getByText(/carried the request out in .* responded with 200; the fault “drop” broke the connection/)
      .waitFor();
    const attempts = details.getByRole("region", { name: "The requests of the call" });
    await expect.poll(() => attempts.getByRole("listitem").count()).toBe(2);
    await attempts.getByRole("button", { name: /orders\.lookup/ }).click();
    await details.getByRole("heading", { name: "orders.lookup" }).waitFor();

    await page.getByRole("option", { name: /lost orders\.create POST/ }).click();
    await why.getByText("The service did not see the request; the fault “drop” broke the connection").waitFor();

    const body = JSON.stringify({
      order: { storeReference: emulator.demo.stores.wholesale, shippingKind: "combined" },
    });
    const headers = { "X-Service-Secret-Key": emulator.secretKey, "Content-Type": "application/json" };
    const refused = await fetch(`${emulator.baseUrl}/orders`, { method: "POST", headers, body });
    const { message } = (await refused.json()) as { readonly message: string };
    await page.getByRole("option", { name: /400 orders\.create/ }).click();
    await why.getByText(message).waitFor();
  });
});

describeInBrowser("the autopilot of the emulator's page", () => {
  const { open } = useBrowser();

  it("ships by itself, says what is due next, and jumps there", async () => {
    const { page, partner, emulator } = await open();
    await page.getByRole("tab", { name: "World" }).click();
    await page.getByRole("combobox", { name: "Shipping" }).selectOption("after 1 h");
    await page.getByText("The autopilot is set").waitFor();
    const { reference } = await place(partner, emulator, "shop-1");
    await page.getByText("Next: ship in 1 h").waitFor();
    await page.getByRole("button", { name: "Jump to next" }).click();
    await page.getByText("The clock is at the next step: ship: 1 × ship").waitFor();
    expect((await partner.orders.get(reference)).orderlines[0]?.shippedQuantity).toBe(1);
  });

  it("copies the environment of a client, and exports the requests", async () => {
    const { page, partner, emulator } = await open({}, { permissions: ["clipboard-read", "clipboard-write"] });
    await partner.auth.validate();
    await page.getByRole("tab", { name: "World" }).click();
    await page.getByRole("button", { name: "Copy environment" }).click();
    await page.getByText("Copied the base URL and the key").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(
      `POD_PARTNER_BASE_URL=${emulator.baseUrl}\nPOD_PARTNER_SECRET_KEY=${emulator.secretKey}\n`,
    );
    const downloaded = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export the requests as HAR" }).click();
    expect((await downloaded).suggestedFilename()).toBe("requests.har");
  });

  it("shows what is wrong at the field of a control", async () => {
    const { page } = await open();
    await page.getByRole("tab", { name: "World" }).click();
    await page.getByText("hold", { exact: true }).click();
    const form = page.locator("details", { hasText: "Puts the production" });
    await form.getByLabel("order", { exact: true }).fill("Order_1");
    await form.getByLabel("reason", { exact: true }).fill("A reason");
    await form.getByRole("button", { name: "Run hold" }).click();
    await form
      .locator("label", { hasText: "order" })
      .getByText(/order: /)
      .waitFor();
  });
});
