import { startEmulator } from "pod-partner/testing";
import { expect, it, onTestFinished } from "vitest";
import { describeInBrowser, useBrowser } from "./use-page.ts";

/** Scrolls the list to its end in 100 steps, one a frame. Returns the largest number of rows that were drawn. */
const scrollThrough = `new Promise((resolve) => {
  const list = document.querySelector("[role=listbox]");
  let [most, steps] = [0, 0];
  const step = () => {
    most = Math.max(most, list.querySelectorAll("[role=option]").length);
    list.scrollTop += (list.scrollHeight - list.clientHeight) / 100;
    steps += 1;
    if (steps < 100) requestAnimationFrame(step);
    else resolve(most);
  };
  requestAnimationFrame(step);
})`;

describeInBrowser("the emulator's page with many requests", () => {
  const { open, show } = useBrowser();

  it("draws only the visible rows of 5,000 requests, also while it scrolls through them", async () => {
    const emulator = await startEmulator();
    onTestFinished(() => emulator.close());
    for (let sent = 0; sent < 5000; sent += 1) await emulator.fetch(`${emulator.baseUrl}/orders?n=${sent}`);
    const { page, errors } = await show(emulator);
    await page.getByRole("option", { name: /n=4999/ }).waitFor();
    expect(await page.evaluate(scrollThrough)).toBeLessThan(60);
    await page.getByRole("option", { name: "GET /orders?n=0", exact: false }).last().waitFor();
    expect(errors).toEqual([]);
  });

  it("keeps what the reader sees in place while requests arrive", async () => {
    const { page, emulator } = await open();
    for (let sent = 0; sent < 200; sent += 1) await emulator.fetch(`${emulator.baseUrl}/orders?n=${sent}`);
    await page.getByRole("option", { name: /n=199/ }).waitFor();
    await page.getByRole("listbox").evaluate((list) => {
      list.scrollTop = 3400;
    });
    const row = page.getByRole("option", { name: "GET /orders?n=90", exact: false });
    await row.waitFor();
    const before = await row.boundingBox();
    for (let sent = 0; sent < 50; sent += 1) await emulator.fetch(`${emulator.baseUrl}/stores?later=${sent}`);
    await page.getByText("250", { exact: true }).waitFor();
    expect(await row.boundingBox()).toEqual(before);
  });

  it("connects again after the emulator was started anew, and shows the new state", async () => {
    const { page, emulator } = await open();
    await emulator.fetch(`${emulator.baseUrl}/orders?before`);
    await page.getByRole("option", { name: /before/ }).waitFor();
    await emulator.close();
    await page.getByText("reconnecting").waitFor();

    const port = Number(new URL(emulator.baseUrl).port);
    const next = await startEmulator({ port, seed: { orders: 2 } });
    onTestFinished(() => next.close());
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByRole("article", { name: "Order seed-2" }).waitFor();
    await page.getByRole("option", { name: /before/ }).waitFor({ state: "detached" });
  });
});
