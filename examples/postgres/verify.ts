/** Five orders through the whole program: `npx pod-partner verify -- node verify.ts`. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { sampleImage } from "pod-partner/testing";

const { DATABASE_URL, POD_PARTNER_VERIFY_FOLDER: folder = "" } = process.env;
if (!DATABASE_URL) throw new Error("DATABASE_URL is not set");

// Each row has a database of its own, also after a kill.
const url = new URL(DATABASE_URL);
const name = `verify_${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`;
const client = new Client(url.href);
await client.connect();
const { rows } = await client.query("SELECT FROM pg_database WHERE datname = $1", [name]);
if (rows.length === 0) await client.query(`CREATE DATABASE ${name}`);
await client.end();
url.pathname = name;
Object.assign(process.env, { DATABASE_URL: url.href, CALLBACK_TOKEN: "only-for-this-test", PORT: "0" });
execFileSync(process.execPath, [join(import.meta.dirname, "migrate.ts")]);

const { db } = await import("./database.ts");
const { accept } = await import("./orders.ts");
const { partner } = await import("./partner.ts");
await import("./worker.ts");

const stores = await partner.organization.stores.list();
const products = await partner.catalog.products.list().toArray();
const store = stores.find(({ integration }) => integration === "api");
const product = products.find(({ status }) => status === "launched");
if (store === undefined || product === undefined) throw new Error("There is no store for the API, or no product.");
const { reference: imageReference } = await partner.images.uploadOnce(sampleImage("a design"));

for (const quantity of [1, 2, 3, 4, 5]) {
  const orderlines = [{ productReference: product.reference, imageReference, quantity }];
  const which = { customIdentifier: `shop-${quantity}`, storeReference: store.reference };
  const order = { ...which, shippingKind: "combined", orderlines } as const;
  await db.transaction().execute((transaction) => accept(transaction, order));
}
const open = () => db.selectFrom("orders").select("id").where("state", "!=", "placed").execute();
while ((await open()).length > 0) await sleep(200);
process.kill(process.pid, "SIGTERM"); // ends as a deployment ends it
