import type { PageSizes } from "../base/table.ts";
import { addProduct } from "../catalog/catalog.ts";
import type { OrganizationPlan, StoredKey, StoredStore } from "../catalog/organization.ts";
import type { AddedProduct, ProductState, StoredItem, StoredProduct } from "../catalog/products.ts";
import type { SavedClock } from "../clock/emulator-clock.ts";
import type { SavedFault } from "../faults/faults.ts";
import type { Due } from "../work/agenda.ts";
import type { AutomationOptions } from "../work/automation.ts";
import type { SentCallback } from "../work/callback.ts";
import { listNames, type StoredRecords, type Task } from "../work/records.ts";
import { type Base, createBase, type RecordTables, type SavedRendertokens, type World } from "./world.ts";

/** The records of an organization, in its lists. */
type SavedRecords = { readonly [List in keyof StoredRecords]: readonly StoredRecords[List][] };

/** An organization in a saved world. */
export interface SavedOrganization extends SavedRecords {
  readonly name: string;
  readonly keys: readonly StoredKey[];
  /** Quota and window of each bucket. */
  readonly limits: OrganizationPlan["limits"];
  readonly rendertokenLimit: number;
  readonly stores: readonly StoredStore[];
  /** The tokens of each bucket. */
  readonly rateLimits: Readonly<Record<string, number>>;
  readonly rendertokens: SavedRendertokens;
}

/** The fields of a product that can change. */
export type SavedProduct = Pick<StoredProduct, "reference"> & ProductState;

/** The fields of a warehouse item that can change. */
export type SavedItem = Pick<StoredItem, "reference" | "logicalQuantity" | "physicalQuantity">;

/** The whole state of the emulated service as JSON. */
export interface SavedWorld {
  readonly version: 1;
  /** The text that all references derive from. */
  readonly seed: string;
  readonly environment: "test" | "production";
  readonly clock: SavedClock;
  /** How many references of each kind exist. */
  readonly references: Readonly<Record<string, number>>;
  readonly products: readonly SavedProduct[];
  /** The products that seeds added to the demo catalog. `products` has their state. */
  readonly addedProducts: readonly AddedProduct[];
  readonly items: readonly SavedItem[];
  readonly faults: readonly SavedFault[];
  /** The pending work. */
  readonly tasks: readonly Due<Task>[];
  /** What the operator does by itself. */
  readonly automation: AutomationOptions;
  /** The callbacks that wait, and the latest that were delivered. */
  readonly callbacks: readonly SentCallback[];
  readonly organizations: readonly SavedOrganization[];
}

export const saveProduct = (product: StoredProduct): SavedProduct => ({
  reference: product.reference,
  status: product.status,
  availableQuantity: product.availableQuantity,
  weightGrams: product.weightGrams,
  layersModified: product.layersModified,
  printModified: product.printModified,
  media: product.media,
});

export const saveItem = ({ reference, logicalQuantity, physicalQuantity }: StoredItem): SavedItem => ({
  reference,
  logicalQuantity,
  physicalQuantity,
});

const saveRecords = (tables: RecordTables) =>
  Object.fromEntries(listNames.map((list) => [list, tables[list].save()])) as SavedRecords;

const loadRecords = <List extends keyof StoredRecords>(tables: RecordTables, list: List, saved: SavedRecords) =>
  tables[list].load(saved[list]);

/** Saves an organization. The records are those of the world, not copies. */
export const saveOrganization = (world: World): SavedOrganization => ({
  name: world.organization.name,
  keys: world.keys.save(),
  limits: world.limits,
  rendertokenLimit: world.rendertokenLimit,
  stores: world.stores.save(),
  ...saveRecords(world),
  rateLimits: world.rateLimits.save(),
  rendertokens: world.rendertokens.save(),
});

/** What an organization is made of. Its keys and stores follow with {@link loadOrganization}. */
export const planOfSaved = ({ name, limits, rendertokenLimit }: SavedOrganization): OrganizationPlan => ({
  name,
  limits,
  rendertokenLimit,
  callbackUrl: null,
  keys: [],
  stores: [],
});

/** Replaces the state of an organization. */
export function loadOrganization(world: World, saved: SavedOrganization): void {
  world.keys.load(saved.keys);
  world.stores.load(saved.stores);
  for (const list of listNames) loadRecords(world, list, saved);
  world.rateLimits.load(saved.rateLimits);
  world.rendertokens.load(saved.rendertokens);
}

/** Whether the catalog has the same records as that of a saved world. Their state can differ. */
export const isBaseOf = ({ origin, catalog }: Base, { seed, environment, addedProducts }: SavedWorld): boolean =>
  origin.seed === seed &&
  origin.environment === environment &&
  JSON.stringify(catalog.added) === JSON.stringify(addedProducts);

/** The state of an added product until that of the saved world replaces it. */
const unknown = {
  status: "launched",
  availableQuantity: 0,
  weightGrams: null,
  layersModified: 0,
  printModified: 0,
  media: { example: { version: 1, modified: 0 }, render: { version: 1, modified: 0 } },
} as const;

/** Makes the catalog of a saved world. Throws a `ControlError` for added products that contradict it. */
export function baseOfSaved({ seed, environment, addedProducts }: SavedWorld, pageSizes: PageSizes): Base {
  const base = createBase({ seed, environment }, pageSizes);
  for (const added of addedProducts) addProduct(base.catalog, base.make, added, unknown);
  return base;
}
