import type { ItemReference, ProductgroupReference, ProductReference } from "../../references/references.ts";
import { Collection } from "../core/collection.ts";
import type { ReferenceMaker } from "../core/reference-maker.ts";
import { type ProductRow, productgroupTable, productTable, type Stage } from "./product-table.ts";

export interface StoredProductgroup {
  readonly reference: ProductgroupReference;
  readonly name: string;
  /** EUR cents. The shipping levels depend on the value of an order, which is computed from it. */
  readonly price: number;
  readonly private: boolean;
}

export interface StoredItem {
  readonly reference: ItemReference;
  readonly sku: string;
  readonly products: ProductReference[];
  /** The stock that can still be ordered. */
  logicalQuantity: number;
  /** The stock in the warehouse. */
  physicalQuantity: number;
}

/** A picture of a product. */
export interface StoredMedia {
  /** 1 for the first picture. Each replacement adds 1. */
  readonly version: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
}

export interface StoredProduct {
  readonly reference: ProductReference;
  readonly name: string;
  readonly group: StoredProductgroup;
  readonly legacyItemSKU: string;
  readonly printed: boolean;
  status: Stage;
  availableQuantity: number;
  weightGrams: number | null;
  layersModified: number;
  printModified: number;
  /** An uploaded example image, and an example render. */
  media: { readonly example: StoredMedia; readonly render: StoredMedia };
}

/** A product created from this day on has a legacy SKU with a suffix: the item's SKU, `P` and a number (specification 2.6). */
const suffixedSince = Date.parse("2026-03-22");

/** The legacy SKU of the product with a number among those of a warehouse item. `created` is in milliseconds since 1970. */
export const legacySkuOf = (sku: string, created: number, number: number): string =>
  created < suffixedSince ? sku : `${sku}P${number}`;

const hour = 3_600_000;

/** Makes the demo catalog's productgroups, products and warehouse items. */
export function createProducts(make: ReferenceMaker, pageSize: number) {
  const groups = new Map(
    Object.entries(productgroupTable).map(([key, group]) => [
      key,
      { ...group, reference: make.named("Productgroup", key) } satisfies StoredProductgroup,
    ]),
  );
  const products = new Collection<StoredProduct>("products", pageSize);
  const items = new Collection<StoredItem>("items", pageSize);
  const itemsBySku = new Map<string, StoredItem>();

  const itemOf = ({ sku, stock }: ProductRow): StoredItem => {
    const existing = itemsBySku.get(sku);
    if (existing !== undefined) return existing;
    const item = items.add({
      reference: make.named("Item", sku),
      sku,
      products: [],
      logicalQuantity: stock,
      physicalQuantity: stock,
    });
    itemsBySku.set(sku, item);
    return item;
  };

  // Layer assets and print dimensions of the demo catalog were last changed some hours after the product was created.
  for (const [key, row] of Object.entries<ProductRow>(productTable)) {
    const group = groups.get(row.group);
    if (group === undefined) continue;
    const item = itemOf(row);
    const reference = make.named("Product", key);
    item.products.push(reference);
    const printModified = Date.parse(row.created) + 8 * hour;
    const picture = { version: 1, modified: printModified };
    products.add({
      reference,
      name: row.name,
      group,
      legacyItemSKU: legacySkuOf(row.sku, Date.parse(row.created), item.products.length),
      printed: row.printed ?? true,
      status: row.stage,
      availableQuantity: row.stock,
      weightGrams: row.weight,
      layersModified: Date.parse(row.created) + 9 * hour,
      printModified,
      media: { example: picture, render: picture },
    });
  }
  return { productgroups: [...groups.values()], products, items };
}
