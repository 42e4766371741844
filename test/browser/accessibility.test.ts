import type { BrowserContextOptions } from "playwright-core";
import { type Emulator, sampleImage } from "pod-partner/testing";
import { expect, it } from "vitest";
import { violations } from "./axe.ts";
import { place } from "./orders.ts";
import { describeInBrowser, type Opened, useBrowser } from "./use-page.ts";

/** Makes one of everything that the page shows. */
async function fill({ partner, emulator }: Opened): Promise<void> {
  const { reference } = await place(partner, emulator, "shop-1", 3);
  const claimed = await place(partner, emulator, "shop-2");
  await place(partner, emulator, "shop-3");
  emulator.hold(reference, "The image has a low resolution");
  const { reference: evidence } = await partner.evidence.upload(sampleImage());
  await partner.claims.createItemIssues(
    claimOf(emulator, emulator.ship(claimed.reference), claimed.reference, evidence),
  );
  await partner.orders.get("Order_00000000000000000000000000").catch(() => {});
  emulator.faults.add({ on: "orders.get", fault: "slow", ms: 1 });
  emulator.drain("default", { tokens: 2900 });
}

const claimOf = (
  { demo }: Emulator,
  shipmentReference: ReturnType<Emulator["ship"]>,
  orderReference: `Order_${string}`,
  evidence: `Evidence_${string}`,
) => ({
  shipmentReference,
  orderReference,
  claimlines: [
    {
      orderlineIndex: 1,
      quantity: 1,
      claimcategoryReference: demo.claimcategories.misprint,
      evidenceReferences: [evidence],
    },
  ],
});

const sizes: Readonly<Record<string, BrowserContextOptions>> = {
  desktop: { viewport: { width: 1440, height: 900 } },
  tablet: { viewport: { width: 1024, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true },
  "small phone": { viewport: { width: 320, height: 640 }, hasTouch: true },
};

describeInBrowser.each(["desktop", "tablet", "phone"])("axe on a %s", (size) => {
  const { open } = useBrowser();

  it.each(["light", "dark"] as const)("finds nothing on the %s page, in any part of it", async (colorScheme) => {
    const context = { ...sizes[size], colorScheme, reducedMotion: "reduce" as const, bypassCSP: true };
    const opened = await open({}, context);
    const { page } = opened;
    expect(await violations(page)).toEqual([]);
    await fill(opened);
    for (const tab of await page.getByRole("tab").all()) {
      await tab.click();
      await expect.poll(() => tab.getAttribute("aria-selected")).toBe("true");
      // The details of the first card, where a tab has cards.
      const closed = page.getByRole("tabpanel").getByRole("button", { expanded: false });
      if ((await closed.count()) > 0) await closed.first().click();
      expect(await violations(page), `${await tab.innerText()}`).toEqual([]);
    }
    if (size === "phone") await page.getByRole("tab", { name: "Requests" }).click();
    await page
      .getByRole("option", { name: /orders\.create/ })
      .first()
      .click();
    await page.getByRole("heading", { name: "Response" }).waitFor();
    expect(await violations(page)).toEqual([]);
  });
});

describeInBrowser.each(Object.keys(sizes))("the emulator's page on a %s", (size) => {
  const { open } = useBrowser();

  it("does not scroll sideways", async () => {
    const opened = await open({}, sizes[size]);
    await fill(opened);
    for (const tab of await opened.page.getByRole("tab").all()) {
      await tab.click();
      const wide = "document.documentElement.scrollWidth > innerWidth";
      expect(await opened.page.evaluate(wide), await tab.innerText()).toBe(false);
    }
  });
});
