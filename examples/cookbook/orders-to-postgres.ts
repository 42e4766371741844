/** Copies all orders into Postgres, every night. A completed order is read once, so a night costs one request for each open order. */
import { PGlite } from "@electric-sql/pglite";
import { isOpen, PodPartner } from "pod-partner";

const partner = new PodPartner(); // reads POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY
const db = new PGlite(process.env.DATABASE ?? "postgres"); // a Postgres in a folder; for your server: `new Pool()` of `pg`

await db.query(`
  CREATE TABLE IF NOT EXISTS orders (
    reference text PRIMARY KEY,
    is_open   boolean NOT NULL,
    status    text,
    on_hold   text,
    lines     jsonb NOT NULL, -- index, productReference, quantity, shippedQuantity, canceledQuantity, …
    changed   timestamptz NOT NULL DEFAULT now()
  )`);

/** The orders of the list, to its end, without those that will not change again. */
async function* unfinished() {
  const { rows } = await db.query<{ reference: string }>("SELECT reference FROM orders WHERE NOT is_open");
  const completed = new Set(rows.map(({ reference }) => reference));
  for await (const { reference } of partner.orders.list({ priority: "low" }))
    if (!completed.has(reference)) yield reference;
}

let [read, failed] = [0, 0];
for await (const outcome of partner.orders.getMany(unfinished())) {
  if (!outcome.ok) {
    failed += 1; // the next night reads it again
    console.error(outcome.input, outcome.error);
    continue;
  }
  const { reference, status, onHold, orderlines } = outcome.value;
  read += 1;
  await db.query(
    `INSERT INTO orders (reference, is_open, status, on_hold, lines) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (reference) DO UPDATE
     SET is_open = excluded.is_open, status = excluded.status, on_hold = excluded.on_hold, lines = excluded.lines, changed = now()
     WHERE (orders.is_open, orders.status, orders.on_hold, orders.lines)
       IS DISTINCT FROM (excluded.is_open, excluded.status, excluded.on_hold, excluded.lines)`,
    [reference, isOpen(outcome.value), status.code ?? null, onHold?.reason ?? null, JSON.stringify(orderlines)],
  );
}

const { rows } = await db.query<{ product: string; units: number }>(`
  SELECT "productReference" AS product, sum(quantity - "shippedQuantity" - "canceledQuantity")::int AS units
  FROM orders, jsonb_to_recordset(lines) AS line
    ("productReference" text, quantity int, "shippedQuantity" int, "canceledQuantity" int)
  WHERE is_open GROUP BY product ORDER BY product`);
for (const { product, units } of rows) console.log(product, units, "units are open");
console.log(read, "orders read,", failed, "failed");
await db.close();
process.exitCode = failed > 0 ? 1 : 0;
