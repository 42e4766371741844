import type { KnownProductStatus } from "../../resources/catalog/catalog.endpoints.ts";

/** The productgroups of the demo catalog. Products of one group share a price and a production technique (specification 1). */
export const productgroupTable = {
  slimCases: { name: "Slim cases", price: 1095, private: false },
  toughCases: { name: "Tough cases", price: 1495, private: false },
  wallets: { name: "Wallet cases", price: 1895, private: false },
  accessories: { name: "Screen protectors", price: 695, private: false },
  customCases: { name: "Custom cases for Demo Prints", price: 1295, private: true },
} as const;

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

export type ProductName = keyof typeof productTable;
