import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { PodPartner } from "pod-partner";
import { createOrderUpdatedReceiver } from "pod-partner/callbacks";
import { expect, it, onTestFinished } from "vitest";
import { place } from "./orders.ts";
import { describeInBrowser, useBrowser } from "./use-page.ts";

/** Serves a receiver of callbacks. The first callback of each order fails. */
async function shop(partner: PodPartner) {
  const handled: (string | null)[] = [];
  let failures = 1;
  const receiver = createOrderUpdatedReceiver({
    partner,
    token: "a-token-of-the-shop",
    onOrderUpdated: ({ customIdentifier }) => {
      failures -= 1;
      if (failures === 0) throw new Error("The shop's database is not available");
      handled.push(customIdentifier ?? null);
    },
  });
  const server = createServer((request, response) => void receiver.node(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    await receiver.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { handled, url: `http://127.0.0.1:${port}/callbacks?token=a-token-of-the-shop` };
}

describeInBrowser("the callbacks of the emulator's page", () => {
  const { open } = useBrowser();

  it("shows each try of a callback: refused, repeated 5 minutes later, sent again by a click", async () => {
    const { page, partner, emulator, errors } = await open();
    const { handled, url } = await shop(partner);
    await place(partner, emulator, "shop-1");
    await page.getByRole("tab", { name: "Callbacks" }).click();
    await page.getByText("No callbacks").waitFor();
    await page.getByLabel("Demo wholesale", { exact: true }).fill(url);
    await page.getByRole("button", { name: "Set the callback URL of Demo wholesale" }).click();
    await page.getByText("Demo wholesale sends callbacks to").waitFor();

    await page.getByRole("tab", { name: "Orders" }).click();
    await page.getByRole("button", { name: "Ship all of shop-1" }).click();
    await page.getByRole("tab", { name: "Callbacks" }).click();
    const callback = page.getByRole("article", { name: "Callback" });
    await callback.getByText("503").waitFor();
    await callback.getByText("waiting").waitFor();
    expect(handled).toEqual([]);

    await page.getByRole("tab", { name: "World" }).click();
    await page.getByRole("button", { name: "+5 min" }).click();
    await page.getByRole("tab", { name: "Callbacks" }).click();
    await callback.getByText("delivered").waitFor();
    expect(handled).toEqual(["shop-1"]);

    await callback.getByRole("button", { name: "Send again" }).click();
    await callback.getByText("3 tries").waitFor();
    await expect.poll(() => callback.getByRole("listitem").count()).toBe(1);
    await callback.getByRole("button", { name: "shop-1", exact: true }).click();
    await expect.poll(() => callback.getByRole("listitem").count()).toBe(3);
    await callback.getByRole("row", { name: "custom_reference shop-1" }).waitFor();
    await callback.getByText("The shop's database").waitFor({ state: "detached" });
    expect(handled).toEqual(["shop-1", "shop-1"]);
    expect(errors).toEqual([]);
  });
});
