import type { Page } from "playwright-core";
import { sampleImage } from "pod-partner/testing";
import { expect, it } from "vitest";
import { place } from "./orders.ts";
import { describeInBrowser, useBrowser } from "./use-page.ts";

/** What has the focus: its name, or its text. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const { activeElement } = document;
    return activeElement.getAttribute("aria-label") ?? activeElement.innerText ?? activeElement.tagName;
  })()`);

/** Presses Tab until the focus is at the element with a name. Returns the number of presses. */
async function tabTo(page: Page, name: string, most = 60): Promise<number> {
  for (let presses = 1; presses <= most; presses += 1) {
    await page.keyboard.press("Tab");
    if ((await focused(page)) === name) return presses;
  }
  throw new Error(`Not reached with ${most} times Tab: ${name}; the focus is at ${await focused(page)}`);
}

describeInBrowser("the emulator's page with the keyboard", () => {
  const { open } = useBrowser();

  it("leads from an opened request to its first button in two steps, and to nothing that it covers", async () => {
    const { page, partner, emulator } = await open();
    for (let made = 0; made < 20; made += 1) await place(partner, emulator, `shop-${made}`);
    await page.getByRole("article", { name: "Order shop-19" }).waitFor();
    await page.getByRole("listbox").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Why" }).waitFor();
    expect(await tabTo(page, "Copy as curl")).toBe(2);
    expect(await tabTo(page, "Add a fault…")).toBe(1);
    expect(await tabTo(page, "Close the request")).toBe(1);
    expect(await tabTo(page, "Headers and bodies")).toBe(1);
    await page.keyboard.press("Escape");
    await expect.poll(() => focused(page)).toContain("Requests, newest first");
  });

  it("keeps its place after each action on an order", async () => {
    const { page, partner, emulator } = await open();
    await place(partner, emulator, "shop-1", 3);
    const order = page.getByRole("article", { name: "Order shop-1" });
    await order.waitFor();
    const press = async (name: string) => {
      await order.getByRole("button", { name, exact: true }).focus();
      await page.keyboard.press("Enter");
    };

    await press("shop-1");
    await press("Hold shop-1");
    await order.getByRole("textbox", { name: "Reason" }).waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("INPUT");
    await press("Back");
    await expect.poll(() => focused(page)).toBe("Hold shop-1");
    await press("Ship some of shop-1");
    await expect.poll(() => page.evaluate("document.activeElement.type")).toBe("number");
    await press("Back");
    await expect.poll(() => focused(page)).toBe("Ship some of shop-1");
    await press("Hold shop-1");
    await press("Hold");
    await order.getByRole("button", { name: "Release shop-1" }).waitFor();
    await expect.poll(() => focused(page)).toBe("Order shop-1");
    await press("Release shop-1");
    await expect.poll(() => focused(page)).toBe("Hold shop-1");
    await press("Start production of shop-1");
    await page.getByText("shop-1 is in production").waitFor();
    await expect.poll(() => focused(page)).toBe("Order shop-1");
    await press("Ship all of shop-1");
    await page.getByText(/^Shipped shop-1 as /).waitFor();
    await expect.poll(() => focused(page)).toBe("Order shop-1");
  });

  it("places a claim's decision, and adds a fault, without losing the focus", async () => {
    const { page, partner, emulator } = await open();
    const { reference: orderReference } = await place(partner, emulator, "shop-1");
    const { reference: evidence } = await partner.evidence.upload(sampleImage());
    await partner.claims.createItemIssues({
      shipmentReference: emulator.ship(orderReference),
      orderReference,
      claimlines: [
        {
          orderlineIndex: 1,
          quantity: 1,
          claimcategoryReference: emulator.demo.claimcategories.misprint,
          evidenceReferences: [evidence],
        },
      ],
    });
    await page.getByRole("tab", { name: "Orders" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await tabTo(page, "Award replacement");
    await page.keyboard.press("Enter");
    await page.getByText("Awarded a replacement").waitFor();
    await expect.poll(() => focused(page)).toBe("Claim Misprint");

    await page.getByRole("tab", { name: "Faults" }).focus();
    await page.keyboard.press("Enter");
    await tabTo(page, "Add the fault");
    await page.keyboard.press("Enter");
    await page.getByRole("article", { name: "Fault drop" }).waitFor();
    await expect.poll(() => focused(page)).toBe("Add the fault");
    await tabTo(page, "Remove the fault drop on orders.create");
    await page.keyboard.press("Enter");
    await page.getByText("Removed the fault").waitFor();
    await expect.poll(() => focused(page)).not.toBe("BODY");
  });

  it("goes on from a row that was clicked, also when it is scrolled out of view", async () => {
    const { page, emulator } = await open();
    for (let sent = 0; sent < 80; sent += 1) await emulator.fetch(`${emulator.baseUrl}/orders?n=${sent}`);
    await page.getByRole("option", { name: /n=77/ }).click();
    await page.keyboard.press("End");
    await page.getByRole("option", { name: /n=0 / }).waitFor();
    await expect.poll(() => focused(page)).toContain("Requests, newest first");
  });

  it("submits a form on a card with Enter, and closes it with Escape", async () => {
    const { page, partner, emulator } = await open();
    await place(partner, emulator, "shop-1");
    const order = page.getByRole("article", { name: "Order shop-1" });
    await order.getByRole("button", { name: "shop-1", exact: true }).click();
    await order.getByRole("button", { name: "Ship some of shop-1" }).click();
    await page.keyboard.press("Escape");
    await expect.poll(() => focused(page)).toBe("Ship some of shop-1");
    await order.getByRole("button", { name: "Hold shop-1" }).click();
    await page.keyboard.press("Enter");
    await order.getByText("on hold", { exact: true }).waitFor();
  });

  it("says the number of requests only after a change of the filter", async () => {
    const { page, partner, emulator } = await open();
    await place(partner, emulator, "shop-1");
    await page.getByRole("option").first().waitFor();
    const said = page.getByRole("region", { name: "Requests", exact: true }).getByRole("status");
    expect(await said.textContent()).toBe("");
    await page.keyboard.press("/");
    await page.keyboard.type("orders");
    await expect.poll(() => said.textContent()).toBe("1 of 2 requests");
    await place(partner, emulator, "shop-2");
    await page.getByText("2 of 4", { exact: true }).waitFor();
    expect(await said.textContent()).toBe("1 of 2 requests");
  });
});

describeInBrowser("the page alone", () => {
  const { open } = useBrowser();

  it("leads from an order to an awarded claim with the keyboard", async () => {
    const { page, emulator, errors } = await open();
    const enter = async (name: string) => {
      await page.getByRole("button", { name }).first().focus();
      await page.keyboard.press("Enter");
    };
    await enter("Add an order");
    await page.getByRole("article", { name: "Order page-1" }).waitFor();
    await page.getByRole("tab", { name: "Orders" }).focus();
    await tabTo(page, "Ship all of page-1");
    await page.keyboard.press("Enter");
    await page.getByText(/^Shipped page-1 as Shipment_/).waitFor();
    await page.getByRole("tab", { name: "Orders" }).focus();
    await tabTo(page, "▸\npage-1");
    await page.keyboard.press("Enter");
    const shipment = emulator.world().organizations[0]?.shipments[0]?.reference;
    await tabTo(page, `File a claim about ${shipment}`);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.type("The corner is broken");
    await tabTo(page, "File the claim");
    await page.keyboard.press("Enter");
    const filed = page.getByText(/^Filed Claim_/).getByRole("link");
    await filed.waitFor();
    await expect.poll(() => focused(page)).toBe(`File a claim about ${shipment}`);
    await filed.focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => focused(page)).toBe("Claim Damaged in transit");
    await tabTo(page, "Award refund");
    await page.keyboard.press("Enter");
    await page.getByText("Awarded a refund").waitFor();
    const [claim] = emulator.world().organizations[0]?.claims ?? [];
    expect(claim?.comment).toBe("The corner is broken");
    expect(claim?.decision?.award).toBe("refund");
    expect(errors).toEqual([]);
  });
});
