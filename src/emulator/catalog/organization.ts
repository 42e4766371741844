import type { Policy } from "../../http/endpoint.ts";
import type { Reference, StoreReference } from "../../references/references.ts";
import type { Limit } from "../core/rate-limit.ts";
import type { ReferenceMaker } from "../core/reference-maker.ts";
import { Table } from "../core/table.ts";
import type { KeyOptions, StoreOptions } from "./organization-options.ts";

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

/** The name of the demo organization. */
export const demoName = "Demo Prints";

const accountTable = { europe: "Demo Prints Europe", world: "Demo Prints World" };
const brandTable = { demo: "Demo Prints", studio: "Studio Demo" };
const packagingTable = { mailbox: "Mailbox parcel", giftbox: "Gift box" };

/** A secret key of an organization. */
export interface StoredKey {
  readonly reference: Reference<"Key">;
  readonly secretKey: string;
  /** The calls that the key may make; null when it may make all. */
  permissions: readonly string[] | null;
  revoked: boolean;
  /** The integrator that uses the key. */
  readonly integrator: string | null;
}

/** What an organization is made of: from the options, or from a saved world. */
export interface OrganizationPlan {
  readonly name: string;
  readonly keys: readonly KeyOptions[];
  readonly stores: readonly StoreOptions[];
  readonly limits: Readonly<Record<Policy, Limit>>;
  readonly rendertokenLimit: number;
  /** The URL that the callbacks of its stores go to; null for none. */
  readonly callbackUrl: string | null;
}

/** An organization with its keys, accounts, stores, brands and packagings. */
export type Organization = ReturnType<typeof createOrganization>;

const createKey = (make: ReferenceMaker, { secretKey, permissions, revoked, integrator }: KeyOptions): StoredKey => ({
  reference: make.named("Key", secretKey),
  secretKey,
  permissions: permissions ?? null,
  revoked: revoked ?? false,
  integrator: integrator ?? null,
});

/** The account and the brand of a store that names none. */
const main = { account: "main", brand: "main" };
type StoreTemplate = StoreOptions & typeof main;

/** Makes an organization. The name of the demo organization gives the demo accounts, stores and brands. */
export function createOrganization(make: ReferenceMaker, environment: string, plan: OrganizationPlan) {
  const { name, limits, rendertokenLimit, callbackUrl } = plan;
  const isDemo = name === demoName;
  const stores = new Table<StoredStore>();
  const described = plan.stores.map((store) => [`${name}/${store.legacyCode}`, { ...main, ...store }] as const);
  const table: readonly (readonly [string, StoreTemplate])[] = isDemo ? Object.entries(storeTable) : described;
  for (const [key, store] of table) {
    const { integration = "api", callbackUrl: own = callbackUrl } = store;
    stores.add({ ...store, reference: make.named("Store", key), integration, callbackUrl: own });
  }
  const keys = new Table<StoredKey>();
  for (const key of plan.keys) keys.add(createKey(make, key));

  const records = <Kind extends "Account" | "Brand">(kind: Kind, table: Readonly<Record<string, string>>) =>
    Object.entries(isDemo ? table : { [`${name}/main`]: name }).map(([key, label]) => ({
      reference: make.named(kind, key),
      name: label,
    }));
  return {
    keys,
    organization: { name, environment },
    limits,
    rendertokenLimit,
    accounts: records("Account", accountTable),
    brands: records("Brand", brandTable),
    packagings: Object.entries(packagingTable).map(([key, label]) => ({
      reference: make.named("Packaging", key),
      name: label,
    })),
    stores,
  };
}
