/** Keeps products up to date: a nightly job that asks what changed since its last run, and stores the snapshot in a file. */
import { mkdtemp, readFile, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ListSnapshot, PodPartner, type Product, type ProductReference } from "pod-partner";
import { createEmulator } from "pod-partner/testing";

const emulator = createEmulator();
const partner = new PodPartner(emulator.clientOptions);
const file = join(await mkdtemp(join(tmpdir(), "shop-")), "catalog.json");

// Your shop, by reference.
const shop = new Map<ProductReference, Product>();

// The last run's snapshot. Any JSON store will do: the SDK checks it.
async function stored(): Promise<ListSnapshot<Product> | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
}

async function sync(): Promise<void> {
  const { added, changed, removed, snapshot } = await partner.catalog.products.changes({
    since: await stored(),
    deadline: 30 * 60_000,
  });
  for (const { current } of added) shop.set(current.reference, current);
  for (const { current, fields } of changed) {
    shop.set(current.reference, current);
    console.log(current.name, "changed:", fields.join(", "));
  }
  for (const { previous } of removed) {
    shop.delete(previous.reference);
    console.log(previous.name, "is gone");
  }
  // Stored last: after a crash above, the next run finds the same changes again.
  await writeFile(`${file}.new`, JSON.stringify(snapshot));
  await rename(`${file}.new`, file);
  console.log(`${added.length} added, ${changed.length} changed, ${removed.length} removed`);
}

await sync();
const [first, second] = shop.keys();
if (first === undefined || second === undefined) throw new Error("the catalog is empty");

emulator.updateProduct(first, { availableQuantity: 3, print: true });
emulator.updateProduct(second, { status: "archived" });
await sync();

// A page that fails changes nothing: the next run begins with the same snapshot.
emulator.updateProduct(first, { availableQuantity: 0 });
emulator.faults.add({ on: "catalog.products.list", fault: "body", body: "<html>", nth: 1 });
await sync().catch((error: Error) => console.log(error.name));
await sync();
