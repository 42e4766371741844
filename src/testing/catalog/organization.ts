import type { StoreReference } from "../../references/references.ts";
import type { ReferenceMaker } from "../state/reference-maker.ts";

export interface StoredStore {
  readonly reference: StoreReference;
  readonly name: string;
  readonly legacyCode: string;
  readonly account: string;
  readonly brand: string;
  /** Free-form. The API accepts orders only when it is `api`. */
  integration: string;
}

/** The demo organization's stores. */
export const storeTable = {
  api: { name: "Demo webshop", legacyCode: "DEMO", account: "europe", brand: "demo", integration: "api" },
  wholesale: { name: "Demo wholesale", legacyCode: "WHOLE", account: "world", brand: "studio", integration: "api" },
  shopify: { name: "Demo on Shopify", legacyCode: "SHOPD", account: "europe", brand: "demo", integration: "shopify" },
} as const;

const accountTable = { europe: "Demo Prints Europe", world: "Demo Prints World" };
const brandTable = { demo: "Demo Prints", studio: "Studio Demo" };
const packagingTable = { mailbox: "Mailbox parcel", giftbox: "Gift box" };

/** Makes the demo organization with its accounts, stores, brands and packagings. */
export function createOrganization(make: ReferenceMaker, environment: string) {
  const stores: StoredStore[] = Object.entries(storeTable).map(([key, store]) => ({
    ...store,
    reference: make.named("Store", key),
  }));
  return {
    organization: { name: "Demo Prints", environment },
    accounts: Object.entries(accountTable).map(([key, name]) => ({ reference: make.named("Account", key), name })),
    brands: Object.entries(brandTable).map(([key, name]) => ({ reference: make.named("Brand", key), name })),
    packagings: Object.entries(packagingTable).map(([key, name]) => ({
      reference: make.named("Packaging", key),
      name,
    })),
    stores,
  };
}
