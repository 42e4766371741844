import type { ProductgroupReference, ProductReference } from "../../references/references.ts";
import type { StoredProduct } from "./products.ts";

/** What never changes of a product that a seed added to the demo catalog. It is plain JSON. */
export interface AddedProduct {
  readonly reference: ProductReference;
  readonly name: string;
  readonly productgroup: ProductgroupReference;
  readonly legacyItemSKU: string;
  readonly printed: boolean;
  /** The SKU of the warehouse item. */
  readonly sku: string;
}

/** The fields of a product that can change. */
export type ProductState = Pick<
  StoredProduct,
  "status" | "availableQuantity" | "weightGrams" | "layersModified" | "printModified" | "media"
>;
