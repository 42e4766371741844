import { addProduct } from "../catalog/add-product.ts";
import type { SavedWorld } from "./saved-world.ts";
import { type Base, createBase } from "./worlds.ts";

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
export function baseOfSaved({ seed, environment, addedProducts }: SavedWorld, pageSize: number): Base {
  const base = createBase({ seed, environment }, pageSize);
  for (const added of addedProducts) addProduct(base.catalog, base.make, added, unknown);
  return base;
}
