import type { ItemReference, ProductgroupReference, ProductReference } from "../../references/references.ts";
import type { KnownProductStatus } from "../../resources/catalog/catalog.endpoints.ts";
import type { ReferenceMaker } from "../base/reference-maker.ts";
import { Collection, type PageSizes } from "../base/table.ts";

/** The productgroups of the demo catalog. Products of one group share a price and a production technique (specification 1). */
export const productgroupTable = {
  slimCases: { name: "Slim cases", price: 1095, private: false },
  toughCases: { name: "Tough cases", price: 1495, private: false },
  wallets: { name: "Wallet cases", price: 1895, private: false },
  accessories: { name: "Screen protectors", price: 695, private: false },
  customCases: { name: "Custom cases for Demo Prints", price: 1295, private: true },
} as const;

/** The name of a productgroup in `emulator.demo`. */
export type ProductgroupName = keyof typeof productgroupTable;

/** A product's lifecycle stage (specification 3.3). */
export type Stage = KnownProductStatus;
export const stages = [
  "announced",
  "prelaunched",
  "launched",
  "sunsetted",
  "ended",
  "archived",
] as const satisfies Stage[];

/** A product of the demo catalog. */
export interface ProductRow {
  readonly name: string;
  readonly group: ProductgroupName;
  readonly stage: Stage;
  /** The SKU of the warehouse item. Several products can share an item. */
  readonly sku: string;
  readonly weight: number | null;
  readonly stock: number;
  /** A date, for example `2024-09-23`. The legacy SKU of a product created from 2026-03-22 on has a suffix (specification 2.6). */
  readonly created: string;
  readonly printed?: false;
}

const row = (
  name: string,
  group: ProductgroupName,
  stage: Stage,
  sku: string,
  weight: number | null,
  stock: number,
  created: string,
): ProductRow => ({ name, group, stage, sku, weight, stock, created });

/** The demo catalog's products, oldest first. */
export const productTable = {
  slimCase8: row("Slim case iPhone 8", "slimCases", "archived", "SLIM-IP08", 24, 0, "2022-05-02"),
  slimCase13: row("Slim case iPhone 13", "slimCases", "ended", "SLIM-IP13", 26, 0, "2023-03-14"),
  slimCase15: row("Slim case iPhone 15", "slimCases", "sunsetted", "SLIM-IP15", 27, 84, "2023-10-02"),
  toughCase15: row("Tough case iPhone 15", "toughCases", "launched", "TOUGH-IP15", 46, 310, "2023-10-02"),
  slimCase: row("Slim case iPhone 16", "slimCases", "launched", "SLIM-IP16", 28, 1250, "2024-09-23"),
  slimCasePro: row("Slim case iPhone 16 Pro", "slimCases", "launched", "SLIM-IP16P", 29, 940, "2024-09-23"),
  toughCase: row("Tough case iPhone 16", "toughCases", "launched", "TOUGH-IP16", 48, 620, "2024-09-30"),
  toughCasePro: row("Tough case iPhone 16 Pro", "toughCases", "launched", "TOUGH-IP16P", null, 480, "2024-09-30"),
  toughCaseGalaxy: row("Tough case Galaxy S25", "toughCases", "launched", "TOUGH-GS25", 47, 275, "2025-02-10"),
  wallet: row("Wallet case iPhone 16", "wallets", "launched", "WALLET-IP16", 96, 130, "2025-04-01"),
  screenProtector: {
    ...row("Screen protector iPhone 16", "accessories", "launched", "GLASS-IP16", 18, 2000, "2025-04-01"),
    printed: false,
  },
  screenProtectorTwoPack: {
    ...row("Screen protector iPhone 16, two-pack", "accessories", "launched", "GLASS-IP16", 36, 1000, "2026-04-13"),
    printed: false,
  },
  customCase: row("Demo Prints case iPhone 16", "customCases", "launched", "CUSTOM-IP16", 31, 400, "2026-05-04"),
  slimCaseNext: row("Slim case iPhone 18", "slimCases", "prelaunched", "SLIM-IP18", 28, 0, "2026-09-07"),
  slimCaseFold: row("Slim case iPhone Fold", "slimCases", "announced", "SLIM-IPF", null, 0, "2026-10-05"),
} as const satisfies Readonly<Record<string, ProductRow>>;

/** The name of a product in `emulator.demo`. */
export type ProductName = keyof typeof productTable;

/** A productgroup of a world. */
export interface StoredProductgroup {
  readonly reference: ProductgroupReference;
  readonly name: string;
  /** EUR cents. The shipping levels depend on the value of an order, which is computed from it. */
  readonly price: number;
  readonly private: boolean;
}

/** A warehouse item of a world. */
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

/** A product of a world. */
export interface StoredProduct {
  readonly reference: ProductReference;
  readonly name: string;
  readonly group: StoredProductgroup;
  readonly legacyItemSKU: string;
  readonly printed: boolean;
  status: Stage;
  /** Null while it is not known, of an announced product (specification 3.3). */
  availableQuantity: number | null;
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
export function createProducts(make: ReferenceMaker, pageSizes: PageSizes) {
  const groups = new Map(
    Object.entries(productgroupTable).map(([key, group]) => [
      key,
      { ...group, reference: make.named("Productgroup", key) } satisfies StoredProductgroup,
    ]),
  );
  const products = new Collection<StoredProduct>("products", pageSizes);
  const items = new Collection<StoredItem>("items", pageSizes);
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

/** What never changes of a product that a seed added to the demo catalog. It is plain JSON. */
export interface AddedProduct {
  readonly reference: ProductReference;
  readonly name: string;
  readonly productgroup: ProductgroupReference;
  readonly legacyItemSKU: string;
  readonly printed: boolean;
  /** The SKU of the warehouse item. */
  readonly sku: string;
}

/** The fields of a product that can change. */
export type ProductState = Pick<
  StoredProduct,
  "status" | "availableQuantity" | "weightGrams" | "layersModified" | "printModified" | "media"
>;
