import * as z from "zod/mini";
import type { PackagingReference, ProductgroupReference, ProductReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { type OpenEnum, open, openEnum, timestamp } from "../../schemas/shape.ts";

/** The lifecycle stages of a product, in order (specification 3.3). */
export type KnownProductStatus = "announced" | "prelaunched" | "launched" | "sunsetted" | "ended" | "archived";

/** The lifecycle stage of a product (specification 3.3). Prelaunched, launched and sunsetted products can be ordered. */
export type ProductStatus = OpenEnum<KnownProductStatus>;

/** A product in a list: the orderable catalog entry (specification 2.6). */
export interface Product {
  readonly reference: ProductReference;
  readonly name: string;
  /** Lifecycle stage. */
  readonly status: ProductStatus;
  /** Units in stock. */
  readonly availableQuantity: number;
  /** ISO 8601 timestamp of the last change of print layer assets. */
  readonly layersModified: string;
  /** ISO 8601 timestamp of the last change of print dimensions. */
  readonly printModified: string;
  /** The v1 SKU. The service removes it in v3. */
  readonly legacyItemSKU: string;
}

/** A product with all details (specification 2.6). The fields of layer image URLs are not shown and returned unchanged. */
export interface ProductDetail extends Product {
  /** `modified` equals `layersModified`. The object also has layer image URLs, under names that the specification does not show. */
  readonly layers: { readonly modified: string };
  /** `modified` equals `printModified`. */
  readonly print: { readonly modified: string };
  /** Weight of one unit in grams; null if not yet measured. */
  readonly weightGrams: number | null;
  /** The available images. The specification does not show the shape of an entry. */
  readonly media: readonly unknown[];
}

const productFields = () => ({
  reference: reference("Product"),
  name: z.string(),
  status: openEnum<KnownProductStatus>(),
  availableQuantity: z.number(),
  layersModified: timestamp(),
  printModified: timestamp(),
  legacyItemSKU: z.string(),
});

export const product = () => open<Product>(productFields());

export const productDetail = () =>
  open<ProductDetail>({
    ...productFields(),
    layers: open<ProductDetail["layers"]>({ modified: timestamp() }),
    print: open<ProductDetail["print"]>({ modified: timestamp() }),
    weightGrams: z.nullable(z.number()),
    media: z.array(z.unknown()),
  });

/** Products with one price and one production technique (specification 1). Other fields are not shown and returned unchanged. */
export interface Productgroup {
  readonly reference: ProductgroupReference;
}

export const productgroup = () => open<Productgroup>({ reference: reference("Productgroup") });

/** A packaging option (specification 4.3). Other fields are not shown and returned unchanged. */
export interface Packaging {
  readonly reference: PackagingReference;
}

export const packaging = () => open<Packaging>({ reference: reference("Packaging") });
