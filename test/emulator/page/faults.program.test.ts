import { validRender } from "pod-partner/testing";
import { expect, it } from "vitest";
import { place } from "./orders.ts";
import { describeInBrowser, useBrowser } from "./use-page.ts";

describeInBrowser("the faults of the emulator's page", () => {
  const { open } = useBrowser();

  it("adds a fault in three clicks, shows that it strikes, and removes it", async () => {
    const { page, partner, emulator } = await open();
    await page.getByRole("tab", { name: "Faults" }).click();

    await page.getByRole("button", { name: "Lose the response" }).click();
    await page.getByRole("button", { name: "orders.create" }).click();
    await page.getByRole("button", { name: "Add the fault" }).click();

    const fault = page.getByRole("article", { name: "Fault drop" });
    await fault.getByText("armed").waitFor();
    const { reference } = await place(partner, emulator, "shop-1");
    expect(reference).toMatch(/^Order_/);
    await fault.getByText("struck 1 time").waitFor();
    await page.getByRole("option", { name: /200 orders\.create ×2 lost, look-up 200 fault: drop/ }).waitFor();

    await fault.getByText("spent: it does not strike again").waitFor();
    await fault.getByRole("button", { name: /^Arm the fault/ }).click();
    await fault.getByText("armed", { exact: true }).waitFor();
    await fault.getByRole("button", { name: /^Remove the fault/ }).click();
    await fault.waitFor({ state: "detached" });
  });

  it("shows a bucket that was drained as empty, and why requests are refused", async () => {
    const { page, emulator } = await open({ limits: { default: { quota: 1, window: 3_600_000 } } });
    const bucket = page.getByRole("region", { name: "default" });
    await page.getByRole("button", { name: "Drain default" }).click();
    await bucket.getByText(/^empty: next token in/).waitFor();
    await fetch(`${emulator.baseUrl}/orders`, { headers: { "X-Service-Secret-Key": emulator.secretKey } });
    await page.getByRole("option", { name: /429 orders\.list .* default is empty/ }).waitFor();
  });

  it("lets the next render fail", async () => {
    const { page, emulator, partner } = await open({ renderDuration: 0 });
    await page.getByRole("tab", { name: "Faults" }).click();
    await page.getByRole("button", { name: "Render fails" }).click();
    await page.getByRole("button", { name: "Add the fault" }).click();
    await page.getByText("Render fails will strike the next renders.create").waitFor();
    const { reference } = await partner.renders.create(validRender(emulator));
    expect((await partner.renders.get(reference)).status).toBe("failed");
  });

  it("says that its world was removed, and does not connect again", async () => {
    const { page, emulator } = await open();
    const world = emulator.worlds.create();
    await page.goto(new URL(`/worlds/${world.name}/`, emulator.baseUrl).href);
    await page.getByText("live", { exact: true }).waitFor();
    world.remove();
    await page.getByText(`The world ${world.name} was removed.`).waitFor();
    expect(await page.getByText("reconnecting").count()).toBe(0);
  });
});
