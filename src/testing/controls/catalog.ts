import type { ProductReference } from "../../references/references.ts";
import type { Stage } from "../catalog/product-table.ts";
import type { World } from "../state/world.ts";

/** The fields of a product to change. */
export interface ProductChanges {
  readonly status?: Stage;
  readonly availableQuantity?: number;
  /** In grams; null when the product has not been measured. */
  readonly weightGrams?: number | null;
  /** True sets `layersModified` to now and changes the layer images. */
  readonly layers?: boolean;
  /** True sets `printModified` to now. */
  readonly print?: boolean;
}

/** Controls that change the catalog. */
export interface CatalogControls {
  /**
   * Changes a product of the catalog, as the operator does.
   *
   * @example
   * emulator.updateProduct(emulator.demo.products.slimCase, { status: "archived" });
   */
  updateProduct(product: ProductReference, changes: ProductChanges): void;
}

export const createCatalogControls = (world: World): CatalogControls => ({
  updateProduct: (reference, { layers = false, print = false, ...values }) => {
    const product = world.products.get(reference);
    if (product === undefined) throw new Error(`The emulator has no product ${reference}`);
    Object.assign(product, values);
    if (layers) product.layersModified = world.now();
    if (print) product.printModified = world.now();
  },
});
