import * as z from "zod/mini";
import type { Download, NotModified } from "../../binary/download.ts";
import { assumed, binary, cursor, endpoint, field, list, page } from "../../http/endpoint.ts";
import type { PackagingReference, ProductgroupReference, ProductReference } from "../../references/references.ts";
import {
  anyList,
  descriptive,
  filledText,
  type OpenEnum,
  open,
  openEnum,
  reference,
  text,
  timestamp,
} from "../../schemas/shape.ts";

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
  /** Units in stock; missing or null if the service does not know it, for example of an announced product. */
  readonly availableQuantity?: number | null;
  /** ISO 8601 timestamp of the last change of print layer assets; missing or null without any. */
  readonly layersModified?: string | null;
  /** ISO 8601 timestamp of the last change of print dimensions; missing or null without any. */
  readonly printModified?: string | null;
  /**
   * The v1 SKU. Of a product created before 2026-03-22 it is the SKU of the warehouse item; of a newer one that SKU with a suffix of `P`
   * and digits, because several products can share an item (specification 2.6).
   *
   * @deprecated The service removes the field in v3 (specification 9.7).
   */
  readonly legacyItemSKU: string;
}

/** When something changed: an ISO 8601 timestamp. */
export interface Modified {
  readonly modified?: string | null;
}

/** A product with all details (specification 2.6). The fields of layer image URLs are not shown and returned unchanged. */
export interface ProductDetail extends Product {
  /**
   * `modified` equals `layersModified`. Missing or null while the print specifications are incomplete (specification 3.3). The object also has
   * layer image URLs, under names that the specification does not show.
   */
  readonly layers?: Modified | null;
  /** `modified` equals `printModified`. Missing or null while the print specifications are incomplete (specification 3.3). */
  readonly print?: Modified | null;
  /** Weight of one unit in grams; null if not yet measured. */
  readonly weightGrams: number | null;
  /** The available images. The specification does not show the shape of an entry. */
  readonly media: readonly unknown[];
}

const productFields = () => ({
  reference: reference("Product"),
  name: text(),
  status: openEnum<KnownProductStatus>(),
  availableQuantity: z.nullish(z.number()),
  layersModified: z.nullish(timestamp()),
  printModified: z.nullish(timestamp()),
  legacyItemSKU: text(),
});

const product = () => open<Product>(productFields());

const modified = () => descriptive(z.nullish(open<Modified>({ modified: z.nullish(timestamp()) })));

const productDetail = () =>
  open<ProductDetail>({
    ...productFields(),
    layers: modified(),
    print: modified(),
    weightGrams: descriptive(z.nullable(z.number())),
    media: anyList(),
  });

/** Products with one price and one production technique (specification 1). Other fields are not shown and returned unchanged. */
export interface Productgroup {
  readonly reference: ProductgroupReference;
}

const productgroup = () => open<Productgroup>({ reference: reference("Productgroup") });

/** A packaging option (specification 4.3). Other fields are not shown and returned unchanged. */
export interface Packaging {
  readonly reference: PackagingReference;
}

const packaging = () => open<Packaging>({ reference: reference("Packaging") });

export const listProducts = endpoint({
  call: "catalog.products.list",
  method: "GET",
  path: "/products",
  query: cursor,
  response: page("products", product),
  repeat: "safe",
});

export const getProduct = endpoint({
  call: "catalog.products.get",
  method: "GET",
  path: "/products/{productReference}",
  response: field("product", productDetail),
  repeat: "safe",
});

export const getProductMedia = endpoint({
  call: "catalog.products.media",
  method: "GET",
  path: "/products/{productReference}/media/{filename}",
  response: binary,
  policies: ["default", "downloads"],
  repeat: "safe",
});

export const lookupProduct = endpoint({
  call: "catalog.products.lookup",
  method: "GET",
  path: "/utilities/lookup-product-reference-by-legacy-sku",
  query: { legacyItemSku: filledText },
  response: field("productReference", () => reference("Product")),
  repeat: "safe",
});

export const listProductgroups = endpoint({
  call: "catalog.productgroups.list",
  method: "GET",
  path: "/productgroups",
  response: assumed(list("productgroups", productgroup)),
  repeat: "safe",
});

export const listPackagings = endpoint({
  call: "catalog.packagings.list",
  method: "GET",
  path: "/packagings",
  response: assumed(list("packagings", packaging)),
  repeat: "safe",
});

/** Uses the URL from the product's detail, because the specification does not show the path. */
export const getLayerImage = endpoint<string, Download | NotModified>({
  call: "catalog.products.layerImage",
  method: "GET",
  path: "{layerImageUrl}",
  response: binary,
  repeat: "safe",
});
