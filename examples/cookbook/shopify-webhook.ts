/** Receives the webhook `orders/paid` of Shopify, stores each order, and places it once, also after a kill, in any number of processes. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { PodPartner, parseReference } from "pod-partner";
import { sqliteStorage } from "pod-partner/sqlite";
import { orderOf } from "./shopify-order.ts";

const { SHOPIFY_SECRET: secret, STORE_REFERENCE: store, PORT: port = "3000" } = process.env;
if (!secret || !store) throw new Error("SHOPIFY_SECRET or STORE_REFERENCE is not set");
const storeReference = parseReference("Store", store);
// What the processes share: it says which orders were sent. The client reads POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY.
const partner = new PodPartner({ storage: sqliteStorage("partner.db") });

const db = new DatabaseSync("shopify.db");
db.exec("PRAGMA busy_timeout = 5000; CREATE TABLE IF NOT EXISTS inbox (id TEXT PRIMARY KEY, body TEXT, result TEXT)");

/** Places an order, unless it was placed or another process places it now. */
async function place(id: string, body: string): Promise<void> {
  try {
    const order = orderOf(JSON.parse(body), storeReference);
    const placed = order && (await partner.orders.ensure(order));
    db.prepare("UPDATE inbox SET result = ? WHERE id = ?").run(placed?.reference ?? "nothing to print", id);
  } catch (error) {
    console.error("Shopify order", id, error);
  }
}

/** Places what is not placed yet. What fails comes again every five minutes, and is in the log, until you set its `result`. */
function placeAll(): void {
  for (const { id, body } of db.prepare("SELECT id, body FROM inbox WHERE result IS NULL").all())
    void place(`${id}`, `${body}`);
}

const app = new Hono();
app.post("/webhooks/orders", bodyLimit({ maxSize: 2_000_000 }), async (context) => {
  const body = Buffer.from(await context.req.arrayBuffer()); // the signature is that of the bytes, not of parsed JSON
  const signature = Buffer.from(context.req.header("x-shopify-hmac-sha256") ?? "", "base64");
  const expected = createHmac("sha256", secret).update(body).digest();
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return context.body(null, 401);
  const text = body.toString();
  const id = `${JSON.parse(text).id}`;
  const { changes } = db.prepare("INSERT OR IGNORE INTO inbox (id, body) VALUES (?, ?)").run(id, text);
  if (changes === 1) void place(id, text);
  return context.body(null, 200); // at once: after five seconds Shopify counts it as lost, and sends it again
});

const server = serve({ fetch: app.fetch, port: Number(port) }, (address) => console.log("port", address.port));
const timer = setInterval(placeAll, 300_000);
placeAll();
process.once("SIGTERM", () => {
  clearInterval(timer);
  server.close(); // the process ends when the orders in work are placed
});
