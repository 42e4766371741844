/**
 * Proves a worker that never ends: adds five orders to its table, starts it, and ends it when none is left:
 * `npx pod-partner verify -- node endless-worker.ts ../postgres-worker/postgres-worker.ts`.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { PodPartner } from "pod-partner";
import { sampleImage } from "pod-partner/testing";

const [, , worker] = process.argv;
const { DATABASE_URL, POD_PARTNER_VERIFY_FOLDER: folder = "" } = process.env;
if (!DATABASE_URL || worker === undefined) throw new Error("Set DATABASE_URL, and pass the path of the worker.");

// Each row of verify has a database of its own, the same after a kill. Drop the databases `verify_…` when you are done.
const url = new URL(DATABASE_URL);
const name = `verify_${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`;
const admin = new Client(url.href);
await admin.connect();
const isThere = ["42P04", "23505"]; // a second process makes it, too
await admin.query(`CREATE DATABASE ${name}`).catch((error) => {
  if (!isThere.includes(error.code)) throw error;
});
await admin.end();
url.pathname = name;

const running = spawn(process.execPath, [worker], {
  stdio: "inherit",
  env: { ...process.env, DATABASE_URL: url.href },
});
const ended = once(running, "exit");
const db = new Client(url.href);
await db.connect();
const rowsOf = async (text: string) => (await db.query(text)).rows;
/** Waits until the worker has changed what a query counts, or has crashed. */
async function until(count: (rows: number) => boolean, text: string): Promise<void> {
  while (running.exitCode === null && !count((await rowsOf(text)).length)) await sleep(100);
}
await until((tables) => tables > 0, "SELECT FROM pg_class WHERE relname = 'order_jobs'");

const partner = new PodPartner();
const store = (await partner.organization.stores.list()).find(({ integration }) => integration === "api");
const products = await partner.catalog.products.list().toArray();
const { reference: imageReference } = await partner.images.uploadOnce(sampleImage("a design"));
for (const quantity of [1, 2, 3, 4, 5]) {
  const { reference: productReference } = products.find(({ status }) => status === "launched") ?? {};
  const orderlines = [{ productReference, imageReference, quantity }];
  const content = { storeReference: store?.reference, shippingKind: "combined", orderlines };
  const job = [`shop-${quantity}`, JSON.stringify(content)];
  await db.query("INSERT INTO order_jobs (id, content) VALUES ($1, $2) ON CONFLICT DO NOTHING", job);
}
await until((jobs) => jobs === 0, "SELECT FROM order_jobs WHERE state = 'waiting'");
const refused = await rowsOf("SELECT id, error FROM order_jobs WHERE state <> 'placed'");
await db.end();
running.kill("SIGTERM"); // ends as a deployment ends it
const [code] = await ended;
if (code !== 0 || refused.length > 0) throw new Error(`exit code ${code}, not placed: ${JSON.stringify(refused)}`);
