/**
 * BROKEN ON PURPOSE: it retries like most clients, and so it orders twice when a response is lost.
 * `npx pod-partner verify -- node plain-fetch.mjs` finds it.
 */
import { setTimeout as sleep } from "node:timers/promises";

const { POD_PARTNER_BASE_URL: baseUrl, POD_PARTNER_SECRET_KEY: key } = process.env;

async function send(method, path, body, type = "application/json") {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const headers = { "X-Service-Secret-Key": key, ...(body && { "Content-Type": type }) };
      const response = await fetch(baseUrl + path, { method, headers, body, signal: AbortSignal.timeout(5_000) });
      if (response.status === 429) await sleep(1_000 * Number(response.headers.get("Retry-After") ?? 1));
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
      return await response.json();
    } catch (error) {
      if (attempt === 8) throw error;
      await sleep(300 * attempt);
    }
  }
}

const { stores } = await send("GET", "/stores");
const { products } = await send("GET", "/products");
const storeReference = stores.find(({ integration }) => integration === "api").reference;
const productReference = products.find(({ status }) => status === "launched").reference;
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const { image } = await send("POST", "/images", Buffer.from(png, "base64"), "application/octet-stream");

for (const quantity of [1, 2, 3, 4, 5]) {
  const orderlines = [{ productReference, imageReference: image.reference, quantity }];
  const order = { customIdentifier: `shop-${quantity}`, storeReference, shippingKind: "combined", orderlines };
  console.log((await send("POST", "/orders", JSON.stringify({ order }))).order.reference);
}
