import { expect, it } from "vitest";
import { place } from "./orders.ts";
import { describeInBrowser, useBrowser } from "./use-page.ts";

describeInBrowser("the requests of the emulator's page", () => {
  const { open } = useBrowser();

  it("says what to paste while there is no request, and lists each request when it comes", async () => {
    const { page, partner, emulator } = await open();
    await page.getByText("Waiting for the first request").waitFor();
    await page.getByText(`${emulator.baseUrl}/orders`, { exact: false }).first().waitFor();
    await partner.auth.validate();
    await page.getByRole("option", { name: /200 auth\.validate POST \/auth\/validate/ }).waitFor();
    await partner.orders.get("Order_00000000000000000000000000").catch(() => {});
    await page.getByRole("option", { name: /404 orders\.get GET \/orders\/Order_0/ }).waitFor();
  });

  it("opens a request by the keyboard, follows the arrow keys, and closes it with Escape", async () => {
    const { page, partner, emulator } = await open();
    await place(partner, emulator, "shop-1");
    await page.getByRole("option", { name: /orders\.create/ }).waitFor();
    await page.keyboard.press("/");
    await expect.poll(() => page.evaluate("document.activeElement.type")).toBe("search");
    await page.getByRole("listbox").focus();
    await page.keyboard.press("Enter");

    const details = page.getByRole("region", { name: "The opened request" });
    await details.getByRole("heading", { name: "orders.create" }).waitFor();
    await details.getByText('"customIdentifier": "shop-1"').waitFor();
    await details.getByText("[redacted]").waitFor();
    await page.keyboard.press("ArrowDown");
    await details.getByRole("heading", { name: "images.upload" }).waitFor();
    await page.keyboard.press("Escape");
    await details.waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate("document.activeElement.role")).toBe("listbox");
  });

  it("filters by words and by kind", async () => {
    const { page, partner, emulator } = await open();
    await place(partner, emulator, "shop-1");
    await partner.orders.get("Order_00000000000000000000000000").catch(() => {});
    const rows = page.getByRole("option");
    await rows.nth(2).waitFor();
    await page.getByRole("searchbox", { name: "Filter the requests" }).fill("orders 4xx");
    await page.getByText("1 of 3", { exact: true }).waitFor();
    expect(await rows.allInnerTexts()).toEqual([expect.stringContaining("orders.get")]);
    await page.getByRole("searchbox", { name: "Filter the requests" }).fill("");
    await page.getByRole("button", { name: "faults", exact: true }).click();
    await page.getByText("No request matches").waitFor();
  });

  it("copies a request as a curl command without the key, quoted for the shell", async () => {
    const { page, partner, emulator } = await open({}, { permissions: ["clipboard-read", "clipboard-write"] });
    await place(partner, emulator, "it's $HOME");
    await page.getByRole("option", { name: /orders\.create/ }).click();
    await page.getByRole("button", { name: "Copy as curl" }).click();
    await page.getByText("Copied the request as curl").waitFor();
    const command = String(await page.evaluate("navigator.clipboard.readText()"));
    expect(command).toContain(`-X POST \\\n  '${emulator.baseUrl}/orders'`);
    expect(command).toContain('-H "X-Service-Secret-Key: $POD_PARTNER_SECRET_KEY"');
    expect(command).toContain(`"customIdentifier":"it'\\''s $HOME"`);
    expect(command).not.toContain(emulator.secretKey);
  });

  it("clears the list", async () => {
    const { page, partner, emulator } = await open();
    await partner.auth.validate();
    await page.getByRole("option").waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByText("Waiting for the first request").waitFor();
    expect(emulator.requests.length).toBe(0);
  });

  it("renders the text of requests as text", async () => {
    const { page, partner, emulator, errors } = await open();
    const hostile = `<img src=x onerror="document.title='broken'"><script>document.title='broken'</script>`;
    await place(partner, emulator, hostile);
    await fetch(`${emulator.baseUrl}/orders?x=${hostile}`, { headers: { "X-Hostile": hostile } });
    await page.getByRole("article", { name: "Order <img" }).waitFor();
    await page.getByRole("option", { name: /401/ }).click();
    await page.getByRole("cell", { name: hostile }).waitFor();
    expect(await page.locator("#app img").count()).toBe(0);
    expect(await page.title()).toBe("Emulator · pod-partner");
    expect(errors).toEqual([]);
  });

  it("folds equal reads one after the other, and neither those apart nor their times", async () => {
    const { page, emulator } = await open();
    const headers = { "X-Service-Secret-Key": emulator.secretKey };
    const read = async (path: string) => (await fetch(emulator.baseUrl + path, { headers })).text();
    await read("/orders");
    await emulator.clock.advance(15_000);
    await read("/orders");
    await read("/claims");
    await read("/claims");
    await page.getByRole("option", { name: /claims\.list ×2/ }).waitFor();
    await expect.poll(() => page.getByRole("option", { name: /orders\.list GET/ }).count()).toBe(2);

    // Polls a second apart, the last one with a retry: its time is that of its own two requests.
    for (let polled = 1; polled <= 2; polled += 1) {
      await read("/stores");
      await emulator.clock.advance(1_500);
    }
    emulator.faults.add({ on: "organization.stores.list", nth: 1, fault: "status", status: 503 });
    await read("/stores");
    await read("/stores");
    const polls = page.getByRole("option", { name: /stores\.list ×4/ });
    await polls.waitFor();
    expect(await polls.locator(".row-duration").innerText()).toMatch(/ ms$/);
  });
});
