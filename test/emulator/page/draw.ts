import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { PodPartner } from "pod-partner";
import { sampleImage, startEmulator } from "pod-partner/testing";

/*
 * Takes the pictures of the emulator's page for the documentation, in light and dark: `npm run build && npx node test/emulator/page/draw.ts`.
 */

const emulator = await startEmulator();
const partner = new PodPartner({ baseUrl: emulator.baseUrl, secretKey: emulator.secretKey });
const { demo } = emulator;

async function order(customIdentifier: string, quantity: number) {
  const { reference: imageReference } = await partner.images.upload(sampleImage(customIdentifier));
  const line = { productReference: demo.products.slimCase, imageReference, quantity };
  const { storeReference, shippingKind } = { storeReference: demo.stores.wholesale, shippingKind: "combined" } as const;
  return await partner.orders.ensure({ storeReference, shippingKind, customIdentifier, orderlines: [line] });
}

const [first, second, third] = [await order("shop-1001", 2), await order("shop-1002", 1), await order("shop-1003", 3)];
emulator.ship(first.reference);
emulator.hold(second.reference, "The image has a low resolution");
emulator.ship(third.reference, { lines: [{ index: 1, quantity: 1 }] });
await partner.orders.get("Order_00000000000000000000000000").catch(() => {});
emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop" });
await order("shop-1004", 1);

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
for (const colorScheme of ["light", "dark"] as const) {
  const page = await browser.newPage({
    viewport: { width: 1200, height: 720 },
    deviceScaleFactor: 2,
    colorScheme,
    timezoneId: "UTC",
  });
  await page.goto(new URL("/", emulator.baseUrl).href);
  await page.getByRole("option", { name: /lost, look-up 200/ }).click();
  await page.getByRole("region", { name: "Why" }).waitFor();
  const path = fileURLToPath(new URL(`../../../docs/emulator-${colorScheme}.png`, import.meta.url));
  await page.screenshot({ path });
  console.log(path);
}
await browser.close();
await emulator.close();
