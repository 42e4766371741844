import { readFile } from "node:fs/promises";
import { PodPartner } from "pod-partner";
import { type Emulator, sampleImage } from "pod-partner/testing";
import { expect, it } from "vitest";
import { place } from "./orders.ts";
import { widthOf } from "./pictures.ts";
import { describeInBrowser, useBrowser } from "./use-page.ts";

async function render(partner: PodPartner, { demo }: Emulator, image = "sample") {
  const { reference: imageReference } = await partner.images.upload(sampleImage(image));
  const { reference: compositionReference } = await partner.compositions.lookup({
    sceneReference: demo.scenes.studio,
    productReference: demo.products.slimCase,
    perspectiveReference: demo.perspectives.front,
  });
  return await partner.renders.create({ compositionReference, imageReference });
}

describeInBrowser("the world of the emulator's page", () => {
  const { open } = useBrowser();

  it("completes a render when the clock is advanced, and shows its picture without a key", async () => {
    const { page, partner, emulator, errors } = await open({ renderDuration: 3_000_000 });
    await page.getByRole("tab", { name: "Renders" }).click();
    await render(partner, emulator);
    const card = page.getByRole("article", { name: "Render of" });
    await card.getByText("pending", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "advance the clock by 1 hour" }).click();
    await card.getByText("completed").waitFor();
    const picture = card.getByRole("img");
    await picture.waitFor();
    expect(await widthOf(picture)).toBe(150);
    expect(errors).toEqual([]);
  });

  it("completes and fails pending renders by a click", async () => {
    const { page, partner, emulator } = await open({ renderDuration: 3_000_000 });
    await page.getByRole("tab", { name: "Renders" }).click();
    const first = await render(partner, emulator, "one");
    const second = await render(partner, emulator, "two");
    await page.getByRole("article", { name: "Render of" }).nth(1).waitFor();
    await page.getByRole("button", { name: "Fail" }).first().click();
    await page.getByText("failed", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Complete" }).click();
    await page.getByText("completed", { exact: true }).waitFor();
    expect((await partner.renders.get(second.reference)).status).toBe("failed");
    expect((await partner.renders.get(first.reference)).status).toBe("completed");
  });

  it("freezes the clock, runs it at a speed, and sets it", async () => {
    const { page, emulator } = await open();
    await page.getByRole("tab", { name: "World" }).click();
    const clock = page.getByRole("region", { name: "Clock", exact: true });
    await clock.getByRole("button", { name: "Freeze" }).click();
    await page.getByRole("banner").getByText("frozen").waitFor();
    expect(emulator.clock.speed).toBe(0);
    await clock.getByRole("button", { name: "×60", exact: true }).click();
    await page.getByRole("banner").getByText("×60").waitFor();
    expect(emulator.clock.speed).toBe(60);
    await clock.getByLabel("Set to a later time").fill("2099-01-01T12:00:00");
    await clock.getByRole("button", { name: "Set", exact: true }).click();
    await page.getByText("The clock was set").waitFor();
    expect(new Date(emulator.clock.now()).getFullYear()).toBe(2099);
  });

  it("saves the world to a file, resets it, loads the file, and rewinds to a checkpoint", async () => {
    const { page, partner, emulator } = await open();
    await place(partner, emulator, "shop-1");
    await page.getByRole("article", { name: "Order shop-1" }).waitFor();
    await page.getByRole("tab", { name: "World" }).click();
    await page.getByRole("button", { name: "Set a checkpoint" }).click();

    const downloaded = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save to a file" }).click();
    const path = await (await downloaded).path();
    expect(JSON.parse(await readFile(path, "utf8")).organizations[0].orders).toHaveLength(1);

    page.on("dialog", (dialog) => dialog.accept());
    await page.getByRole("button", { name: "Reset…" }).click();
    await page.getByText("Reset the world").waitFor();
    await page.getByRole("tab", { name: "Orders" }).click();
    await page.getByText("No orders").waitFor();

    await page.getByRole("tab", { name: "World" }).click();
    await page.getByLabel("World file").setInputFiles(path);
    await page.getByText(/^Loaded /).waitFor();
    await page.getByRole("tab", { name: "Orders" }).click();
    await page.getByRole("button", { name: "Ship all of shop-1" }).click();
    await page.getByText("shipped", { exact: true }).waitFor();

    await page.getByRole("tab", { name: "World" }).click();
    await page.getByRole("button", { name: "Rewind to default" }).click();
    await page.getByRole("tab", { name: "Orders" }).click();
    await page.getByRole("article", { name: "Order shop-1" }).getByText("received").waitFor();
  });

  it("offers each control of the emulator as a form", async () => {
    const { page, partner, emulator } = await open();
    await page.getByRole("tab", { name: "World" }).click();
    await page.getByText("updateProduct", { exact: true }).click();
    const form = page.locator("details", { hasText: "updateProduct" });
    await form.getByLabel("product", { exact: true }).fill(emulator.demo.products.slimCase);
    await form.getByLabel("availableQuantity (optional)").fill("7");
    await form.getByRole("button", { name: "Run updateProduct" }).click();
    await page.getByText("updateProduct: done").waitFor();
    expect((await partner.catalog.products.get(emulator.demo.products.slimCase)).availableQuantity).toBe(7);
  });

  it("shows an isolated world of the same port under its own path", async () => {
    const { page, emulator } = await open({ renderDuration: 0 });
    const world = emulator.worlds.create({ name: "mine" });
    const partner = new PodPartner(world.clientOptions);
    await page.goto(new URL("/worlds/mine/", emulator.baseUrl).href);
    await place(partner, world, "shop-of-mine");
    await page.getByRole("button", { name: "Ship all of shop-of-mine" }).click();
    await page.getByText("shipped", { exact: true }).waitFor();
    await render(partner, world);
    await page.getByRole("tab", { name: "Renders" }).click();
    expect(await widthOf(page.getByRole("article", { name: "Render of" }).getByRole("img"))).toBe(150);
    expect(emulator.requests.length).toBe(0);
  });
});
