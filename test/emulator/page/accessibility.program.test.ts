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

type Scheme = "light" | "dark";

/** Sizes of a screen, and what axe looks at: colours are the same in every size, and a small phone has the layout of a phone. */
const sizes: Readonly<Record<string, [context: BrowserContextOptions, ...looks: Scheme[]]>> = {
  desktop: [{ viewport: { width: 1440, height: 900 } }, "light", "dark"],
  tablet: [{ viewport: { width: 1024, height: 800 } }, "light"],
  phone: [{ viewport: { width: 390, height: 844 }, hasTouch: true }, "light"],
  "small phone": [{ viewport: { width: 320, height: 640 }, hasTouch: true }],
};

describeInBrowser.each(Object.entries(sizes))("the emulator's page on a %s", (size, [context, ...looks]) => {
  const { open } = useBrowser();

  it(`does not scroll sideways in any part of it${looks.length > 0 ? `, and axe finds nothing, ${looks.join(" or ")}` : ""}`, async () => {
    const opened = await open({}, { ...context, reducedMotion: "reduce", bypassCSP: true });
    const { page } = opened;
    const fits = async (part: string) => {
      const wide = "document.documentElement.scrollWidth > innerWidth";
      expect(await page.evaluate(wide), part).toBe(false);
    };
    const check = async (part: string) => {
      await fits(part);
      for (const colorScheme of looks) {
        await page.emulateMedia({ colorScheme });
        expect(await violations(page), `${part}, ${colorScheme}`).toEqual([]);
      }
    };
    await check("an empty page");
    await fill(opened);
    for (const tab of await page.getByRole("tab").all()) {
      await tab.click();
      await expect.poll(() => tab.getAttribute("aria-selected")).toBe("true");
      await fits(await tab.innerText());
      // The details of the first card, where a tab has cards.
      const closed = page.getByRole("tabpanel").getByRole("button", { expanded: false });
      if ((await closed.count()) > 0) await closed.first().click();
      await check(await tab.innerText());
    }
    if (size.endsWith("phone")) await page.getByRole("tab", { name: "Requests" }).click();
    await page
      .getByRole("option", { name: /orders\.create/ })
      .first()
      .click();
    await page.getByRole("heading", { name: "Response" }).waitFor();
    await check("a request");
  });
});

/** The contrast of each text of a notice of these classes to its background (WCAG 2). It runs in the page. */
const contrastsOf = (classes: string): string => `(() => {
  const box = document.querySelector(".notice");
  box.className = "${classes}";
  const channels = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((part) => Number(part) / 255);
  const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const light = (colour) => channels(colour).map(linear).reduce((sum, part, n) => sum + part * [0.2126, 0.7152, 0.0722][n], 0.05);
  const below = light(getComputedStyle(box).backgroundColor);
  return [...box.querySelectorAll("span, a, button")].map((text) => {
    const above = light(getComputedStyle(text).color);
    return Math.max(above, below) / Math.min(above, below);
  });
})()`;

describeInBrowser("a notice of the emulator's page", () => {
  const { open } = useBrowser();

  it.each(["light", "dark"] as const)(
    "can be read, links included, also when it reports an error: %s",
    async (scheme) => {
      const { page, partner, emulator } = await open({}, { colorScheme: scheme });
      await place(partner, emulator, "shop-1");
      await page.getByRole("button", { name: "Ship all of shop-1" }).click();
      const notice = page.locator(".notice");
      await notice.getByRole("link", { name: /^Shipment_/ }).waitFor();
      for (const kind of ["notice", "notice bad"]) {
        const found = await page.evaluate(contrastsOf(kind));
        expect(found, kind).toHaveLength(3);
        for (const contrast of found as readonly number[]) expect(contrast, kind).toBeGreaterThanOrEqual(4.5);
      }
    },
  );
});
