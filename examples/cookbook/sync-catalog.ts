/** Copies the catalog into a database, every night: what is new, what has changed, what is gone. A night that fails changes nothing, and ends with 1. */
import { DatabaseSync } from "node:sqlite";
import { type ListSnapshot, PodPartner, type Product } from "pod-partner";

const partner = new PodPartner(); // reads POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY
const db = new DatabaseSync(process.env.DATABASE ?? "catalog.db"); // yours: a few tables of your own database
db.exec(`
  CREATE TABLE IF NOT EXISTS products (
    reference TEXT PRIMARY KEY,
    name      TEXT NOT NULL,
    status    TEXT NOT NULL,    -- sell prelaunched, launched and sunsetted
    available INTEGER,          -- NULL: the service does not say it
    layers    INTEGER NOT NULL  -- 1: the layer images are new, so read them again
  );
  CREATE TABLE IF NOT EXISTS snapshot (id INTEGER PRIMARY KEY CHECK (id = 1), content TEXT NOT NULL)`);

const stored = db.prepare("SELECT content FROM snapshot").get();
const since: ListSnapshot<Product> | undefined = stored && JSON.parse(String(stored.content));
// It reads the whole list before it returns. An error ends the program: the snapshot stays that of the last night.
const { added, changed, removed, snapshot } = await partner.catalog.products.changes({ since, deadline: 30 * 60_000 });

const save = db.prepare(`
  INSERT INTO products (reference, name, status, available, layers) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (reference) DO UPDATE SET name = excluded.name, status = excluded.status, available = excluded.available,
    layers = max(layers, excluded.layers)`);
const store = ({ reference, name, status, availableQuantity }: Product, layers: boolean) =>
  save.run(reference, name, status, availableQuantity ?? null, Number(layers));
const remove = db.prepare("DELETE FROM products WHERE reference = ?");
const keep = db.prepare("INSERT OR REPLACE INTO snapshot (id, content) VALUES (1, ?)");

// Products and snapshot in one transaction: after a kill, the next night finds the same changes.
db.exec("BEGIN IMMEDIATE");
for (const { current } of added) store(current, true);
for (const { current, fields } of changed) store(current, fields.includes("layersModified"));
for (const { previous } of removed) remove.run(previous.reference);
keep.run(JSON.stringify(snapshot));
db.exec("COMMIT");
db.close();

for (const { current, fields } of changed) console.log(current.name, "changed:", fields.join(", "));
for (const { previous } of removed) console.log(previous.name, "is gone");
console.log(`${added.length} added, ${changed.length} changed, ${removed.length} removed`);
