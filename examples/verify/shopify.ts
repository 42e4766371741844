/** Five webhooks for the server of examples/cookbook/shopify-webhook.ts: `npx pod-partner verify -- node shopify.ts`. */
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { fiveOrders } from "./orders.ts";

const { store, line, orders } = await fiveOrders();
process.chdir(process.env.POD_PARTNER_VERIFY_FOLDER ?? "."); // its files
await writeFile(
  "skus.json",
  JSON.stringify({ "ADA-1": { product: line.productReference, image: line.imageReference } }),
);
const probe = createServer().listen(0);
await once(probe, "listening");
const port = String(Object(probe.address()).port);
probe.close();
const secret = "hush";
Object.assign(process.env, { SHOPIFY_SECRET: secret, STORE_REFERENCE: store.reference, PORT: port });
await import("../cookbook/shopify-webhook.ts");

const address = { address1: "Chestnut Street 92", city: "Louisville", zip: "40202", country_code: "US" };
const names = { first_name: "Bob", last_name: "Norman", company: null, address2: null, province_code: "KY" };
for (const [index, { orderlines }] of orders.entries()) {
  const line_items = orderlines.map(({ quantity }) => ({ sku: "ADA-1", quantity }));
  const order = { id: index, email: "bob@example.com", shipping_address: { ...address, ...names }, line_items };
  const body = JSON.stringify(order);
  const signature = createHmac("sha256", secret).update(body).digest("base64");
  await fetch(`http://127.0.0.1:${port}/webhooks/orders`, {
    method: "POST",
    headers: { "X-Shopify-Hmac-Sha256": signature },
    body,
  });
}
const open = new DatabaseSync("shopify.db", { timeout: 5_000 }).prepare("SELECT id FROM inbox WHERE result IS NULL");
while (open.get() !== undefined) await sleep(200);
process.kill(process.pid, "SIGTERM"); // ends as a deployment ends it
