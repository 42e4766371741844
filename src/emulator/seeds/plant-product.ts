import type { ProductReference } from "../../references/references.ts";
import { addProduct, shareProduct } from "../catalog/add-product.ts";
import { legacySkuOf } from "../catalog/products.ts";
import { ControlError } from "../core/control-error.ts";
import type { Emulation } from "../emulation/emulation.ts";
import type { SeedProduct } from "../settings/seed-product.ts";
import type { World } from "../state/world.ts";
import { inPast } from "./in-past.ts";

/** The productgroup with a name in the demo catalog, or a reference. */
function groupOf({ productgroups, make }: World, name: string) {
  const named = make.named("Productgroup", name);
  const group = productgroups.find(({ reference }) => reference === name || reference === named);
  if (group === undefined) throw new ControlError(`There is no productgroup ${name}`);
  return group.reference;
}

const skuOf = (name: string): string => name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "-");

/** Adds a product to the catalog, for every organization that sees its productgroup. */
export function plantProduct({ worlds: [main, ...others] }: Emulation, seed: SeedProduct): ProductReference {
  const { name, productgroup = "slimCases", sku = skuOf(name), printed = true, weightGrams = 30 } = seed;
  if (main.products.all().some((product) => product.name === name)) {
    throw new ControlError(`There is a product ${name} already`);
  }
  const created = inPast(main, seed.daysAgo).now();
  const shared = main.items.all().find((item) => item.sku === sku)?.products.length ?? 0;
  const added = {
    reference: seed.reference ?? main.make.named("Product", name),
    name,
    productgroup: groupOf(main, productgroup),
    legacyItemSKU: legacySkuOf(sku, created, shared + 1),
    printed,
    sku,
  };
  const picture = { version: 1, modified: created };
  const product = addProduct(main, main.make, added, {
    status: seed.status ?? "launched",
    availableQuantity: seed.availableQuantity ?? 100,
    weightGrams,
    layersModified: created,
    printModified: created,
    media: { example: picture, render: picture },
  });
  for (const world of others) shareProduct(world, product);
  return product.reference;
}
