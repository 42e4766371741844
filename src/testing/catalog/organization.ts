import type { Reference, StoreReference } from "../../references/references.ts";
import type { ReferenceMaker } from "../state/reference-maker.ts";
import { Table } from "../state/table.ts";

export interface StoredStore {
  readonly reference: StoreReference;
  readonly name: string;
  readonly legacyCode: string;
  readonly account: string;
  readonly brand: string;
  /** Free-form. The API accepts orders only when it is `api`. */
  integration: string;
  /** The URL that callbacks go to; null when the store gets none (specification 6). */
  callbackUrl: string | null;
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

/** A secret key of an organization. */
export interface StoredKey {
  readonly reference: Reference<"Key">;
  readonly secretKey: string;
}

/** An organization with its keys, accounts, stores, brands and packagings. */
export type Organization = ReturnType<typeof createOrganization>;

/** Makes the demo organization. */
export function createOrganization(make: ReferenceMaker, environment: string, secretKey: string) {
  const stores = new Table<StoredStore>();
  for (const [key, store] of Object.entries(storeTable)) {
    stores.add({ ...store, reference: make.named("Store", key), callbackUrl: null });
  }
  const keys = new Table<StoredKey>();
  keys.add({ reference: make.named("Key", secretKey), secretKey });
  return {
    keys,
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
