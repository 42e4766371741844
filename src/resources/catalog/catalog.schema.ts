import * as z from "zod/mini";
import type { PackagingReference, ProductgroupReference, ProductReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { type OpenEnum, open, openEnum, timestamp } from "../../schemas/shape.ts";

/** The stages of a product's life that the specification names, in order (3.3). */
export type KnownProductStatus = "announced" | "prelaunched" | "launched" | "sunsetted" | "ended" | "archived";

/** The stage of a product's life (specification 3.3). Prelaunched, launched and sunsetted ones can be ordered. */
export type ProductStatus = OpenEnum<KnownProductStatus>;

/** An orderable catalog entry, as a list gives it (specification 2.6). */
export interface Product {
  readonly reference: ProductReference;
  readonly name: string;
  /** Stage of its life. */
  readonly status: ProductStatus;
  /** Units in stock. */
  readonly availableQuantity: number;
  /** Timestamp, moved when print layer assets change. */
  readonly layersModified: string;
  /** Timestamp, moved when print dimensions change. */
  readonly printModified: string;
  /** The v1 SKU. Removed in v3. */
  readonly legacyItemSKU: string;
}

/** A product in full (specification 2.6). The fields of layer image URLs are not shown and passed on as they come. */
export interface ProductDetail extends Product {
  /** `modified` mirrors `layersModified`; layer image URLs stand beside it, under names that are not shown. */
  readonly layers: { readonly modified: string };
  /** `modified` mirrors `printModified`. */
  readonly print: { readonly modified: string };
  /** Weight of one unit in grams; null when not yet measured. */
  readonly weightGrams: number | null;
  /** The images there are. The shape of an entry is not shown. */
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

/** A category of products that share a price and a technique (specification 1). Fields beyond these are not shown. */
export interface Productgroup {
  readonly reference: ProductgroupReference;
}

export const productgroup = () => open<Productgroup>({ reference: reference("Productgroup") });

/** A packaging option. Fields beyond these are not shown and passed on as they come. */
export interface Packaging {
  readonly reference: PackagingReference;
}

export const packaging = () => open<Packaging>({ reference: reference("Packaging") });
