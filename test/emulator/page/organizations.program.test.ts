import { expect, it } from "vitest";
import { place } from "./orders.ts";
import { describeInBrowser, useBrowser } from "./use-page.ts";

const other = { name: "Other prints", keys: [{ secretKey: "key-of-other-prints" }] };
const stores = [{ name: "Other shop", legacyCode: "OTHER" }];

describeInBrowser("the organizations of the emulator's page", () => {
  const { open } = useBrowser();

  it("can be chosen, with their orders, limits and stores", async () => {
    const { page, partner, emulator, errors } = await open({ organizations: [{ ...other, stores }] });
    await place(partner, emulator, "shop-of-demo");
    await page.getByRole("article", { name: "Order shop-of-demo" }).waitFor();
    emulator.seed({ orders: [{ store: "OTHER", customIdentifier: "shop-of-other" }] });
    const choice = page.getByRole("combobox", { name: "Organization" });
    await expect.poll(() => choice.locator("option").allTextContents()).toEqual(["Demo Prints", "Other prints"]);

    await choice.selectOption("Other prints");
    await page.getByRole("article", { name: "Order shop-of-other" }).waitFor();
    expect(await page.getByRole("article", { name: "Order shop-of-demo" }).count()).toBe(0);
    await page.getByRole("button", { name: "Ship all of shop-of-other" }).click();
    await page.getByText("shipped", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Drain uploads" }).click();
    await page.getByRole("region", { name: "uploads" }).getByText("0", { exact: true }).waitFor();
    const levels = emulator.world().organizations.map(({ rateLimits }) => Math.floor(rateLimits.uploads ?? -1));
    expect(levels).toEqual([4999, 0]);
    await page.getByRole("tab", { name: "Callbacks" }).click();
    await page.getByText("Other shop").first().waitFor();

    await choice.selectOption("Demo Prints");
    await page.getByRole("tab", { name: "Orders" }).click();
    await page.getByRole("article", { name: "Order shop-of-demo" }).waitFor();
    expect(errors).toEqual([]);
  });

  it("are not offered when there is only one", async () => {
    const { page } = await open();
    expect(await page.getByRole("combobox", { name: "Organization" }).count()).toBe(0);
  });
});
