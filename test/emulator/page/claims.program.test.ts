import { sampleImage } from "pod-partner/testing";
import { expect, it } from "vitest";
import { place } from "./orders.ts";
import { widthOf } from "./pictures.ts";
import { describeInBrowser, useBrowser } from "./use-page.ts";

describeInBrowser("the claims of the emulator's page", () => {
  const { open } = useBrowser();

  it("shows a claim with its photos, awards it, and shows the replacement", async () => {
    const { page, partner, emulator, errors } = await open();
    const { reference: orderReference } = await place(partner, emulator, "shop-1", 2);
    const shipmentReference = emulator.ship(orderReference);
    const { reference: evidence } = await partner.evidence.upload(sampleImage("a scratch"));
    const { reference } = await partner.claims.createItemIssues({
      shipmentReference,
      orderReference,
      comment: "The print is shifted",
      claimlines: [
        {
          orderlineIndex: 1,
          quantity: 1,
          claimcategoryReference: emulator.demo.claimcategories.misprint,
          evidenceReferences: [evidence],
        },
      ],
    });

    await page.getByRole("tab", { name: "Claims" }).click();
    const claim = page.getByRole("article", { name: "Claim Misprint" });
    await claim.getByText("The print is shifted").waitFor();
    expect(await widthOf(claim.getByRole("img"))).toBe(60);
    await claim.getByRole("button", { name: "Misprint, 1 of 1" }).click();
    await page.getByRole("dialog", { name: "Misprint, 1 of 1" }).waitFor();
    await page.keyboard.press("Escape");
    await claim.getByRole("button", { name: "Misprint", exact: true }).click();
    await claim.getByLabel("Comment of the decision").fill("We are sorry");
    await claim.getByRole("button", { name: "Award replacement" }).click();
    await claim.getByText("resolved").waitFor();
    await claim.getByText("Decided: replacement. We are sorry").waitFor();
    const decided = await partner.claims.get(reference);
    expect(decided.status).toBe("resolved");
    expect(decided.claimlines[0]?.decision?.replacementQuantity).toBe(1);

    // The replacement leads to its order, and that one to the claim.
    const replacement = emulator.world().organizations[0]?.orders.at(-1);
    await claim.getByRole("link", { name: new RegExp(`^Order_${replacement?.reference.slice(6, 12)}`) }).click();
    const order = page.getByRole("article", { name: `Order ${replacement?.legacyOrderCode}` });
    await order.getByText("replaces").waitFor();
    await expect
      .poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')"))
      .toBe(`Order ${replacement?.legacyOrderCode}`);
    await order.getByRole("link", { name: /^Claim_/ }).click();
    await claim.waitFor();
    expect(errors).toEqual([]);
  });
});
