import type { Download, NotModified } from "../../binary/download.ts";
import { assumed, binary, cursor, endpoint, field, list, page } from "../../http/endpoint/endpoint.ts";
import { reference } from "../../references/schema.ts";
import { filledText } from "../../schemas/shape.ts";
import { packaging, product, productDetail, productgroup } from "./catalog.schema.ts";

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
