import * as z from "zod/mini";
import type { ProductReference, StoreReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { count } from "../../schemas/shape.ts";
import { type Stage, stages } from "../catalog/product-table.ts";
import { control } from "./control.ts";
import { find } from "./find.ts";

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

/** Controls that change the catalog and the stores. */
export interface CatalogControls {
  /**
   * Changes a product of the catalog, as the operator does.
   *
   * @example
   * emulator.updateProduct(emulator.demo.products.slimCase, { status: "archived" });
   */
  updateProduct(product: ProductReference, changes: ProductChanges): void;
  /** Sets a store's integration, as the partner dashboard does. The API accepts orders only when it is `api`. */
  setStoreIntegration(store: StoreReference, integration: string): void;
}

export const catalogControls = {
  updateProduct: control({
    about: "Changes a product of the catalog, as the operator does.",
    on: "product",
    required: ["product"],
    fields: () => ({
      product: reference("Product"),
      status: z.optional(z.enum(stages)),
      availableQuantity: z.optional(count(0)),
      weightGrams: z.optional(z.nullable(z.number().check(z.gte(0)))),
      layers: z._default(z.boolean(), false),
      print: z._default(z.boolean(), false),
    }),
    run: (emulation, { product: reference, layers, print, ...changes }) => {
      const { world, record: product } = find(emulation, "products", reference);
      const given = Object.entries(changes).filter(([, value]) => value !== undefined);
      Object.assign(product, Object.fromEntries(given));
      if (layers) product.layersModified = world.now();
      if (print) product.printModified = world.now();
    },
  }),
  setStoreIntegration: control({
    about: "Sets the integration of a store. The API accepts orders only when it is api.",
    on: "store",
    required: ["store", "integration"],
    fields: () => ({ store: reference("Store"), integration: z.string() }),
    run: (emulation, { store, integration }) => {
      find(emulation, "stores", store).record.integration = integration;
    },
  }),
};
