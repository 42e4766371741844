import * as z from "zod/mini";
import type { ItemReference, ProductReference, StoreReference } from "../../references/references.ts";
import { count, reference } from "../../schemas/shape.ts";
import { type Stage, type StoredMedia, stages } from "../catalog/products.ts";
import { refuseUnknownStock } from "../rules/catalog.ts";
import { control, find } from "./control.ts";
import { goOn } from "./orders.ts";

/** The fields of a product to change. */
export interface ProductChanges {
  readonly status?: Stage;
  /** Null while it is not known: only of an announced product. */
  readonly availableQuantity?: number | null;
  /** In grams; null when the product has not been measured. */
  readonly weightGrams?: number | null;
  /** True sets `layersModified` to now and changes the layer images. */
  readonly layers?: boolean;
  /** True sets `printModified` to now. */
  readonly print?: boolean;
}

/** The quantities of a warehouse item to set. */
export interface Stock {
  readonly logicalQuantity?: number;
  readonly physicalQuantity?: number;
}

/** The pictures of a product to replace. */
export interface MediaReplacement {
  /** The uploaded example image: its picture, `ETag` and `Last-Modified` change. Default true. */
  readonly example?: boolean;
  /** The example render. The new one has a new file name in `media`. Default false. */
  readonly render?: boolean;
}

/** Controls that change the catalog and the stores. */
export interface CatalogControls {
  /**
   * Changes a product of the catalog, as the operator does. When it is launched, steps of the automation that its pre-orders waited with
   * happen now.
   *
   * @example
   * emulator.updateProduct(emulator.demo.products.slimCase, { status: "archived" });
   */
  updateProduct(product: ProductReference, changes: ProductChanges): void;
  /**
   * Sets the quantities of a warehouse item. `updateProduct` sets the `availableQuantity` of a product. Orders and shipments change
   * neither.
   */
  setStock(item: ItemReference, quantities: Stock): void;
  /** Replaces pictures of a product, as the operator does (specification 2.6). */
  replaceMedia(product: ProductReference, replacement?: MediaReplacement): void;
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
      availableQuantity: z.optional(z.nullable(count(0))),
      weightGrams: z.optional(z.nullable(z.number().check(z.gte(0)))),
      layers: z._default(z.boolean(), false),
      print: z._default(z.boolean(), false),
    }),
    run: (emulation, { product: reference, layers, print, ...changes }) => {
      const { world, record: product } = find(emulation, "products", reference);
      const { status = product.status, availableQuantity = product.availableQuantity } = changes;
      const { weightGrams = product.weightGrams } = changes;
      refuseUnknownStock({ status, availableQuantity });
      Object.assign(product, { status, availableQuantity, weightGrams });
      if (layers) product.layersModified = world.now();
      if (print) product.printModified = world.now();
      // Pre-orders of a product that was launched go on, of every organization.
      for (const { orders } of emulation.worlds) for (const order of orders.all()) goOn(emulation, order);
    },
  }),
  setStock: control({
    about: "Sets the quantities of a warehouse item.",
    on: "product",
    required: ["item"],
    fields: () => ({
      item: reference("Item"),
      logicalQuantity: z.optional(count(0)),
      physicalQuantity: z.optional(count(0)),
    }),
    run: (emulation, { item, logicalQuantity, physicalQuantity }) => {
      const { record } = find(emulation, "items", item);
      if (logicalQuantity !== undefined) record.logicalQuantity = logicalQuantity;
      if (physicalQuantity !== undefined) record.physicalQuantity = physicalQuantity;
    },
  }),
  replaceMedia: control({
    about: "Replaces the example image of a product, its example render, or both.",
    on: "product",
    required: ["product"],
    fields: () => ({
      product: reference("Product"),
      example: z._default(z.boolean(), true),
      render: z._default(z.boolean(), false),
    }),
    run: (emulation, { product: reference, example, render }) => {
      const { world, record: product } = find(emulation, "products", reference);
      const next = ({ version }: StoredMedia): StoredMedia => ({ version: version + 1, modified: world.now() });
      const { media } = product;
      product.media = {
        example: example ? next(media.example) : media.example,
        render: render ? next(media.render) : media.render,
      };
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
