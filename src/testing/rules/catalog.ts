import type { ProductReference } from "../../references/references.ts";
import type { StoredProduct } from "../catalog/products.ts";
import { found, Problem } from "../http/problem.ts";
import type { World } from "../state/world.ts";

/** The product, unless it is archived: then it is gone (specification 3.3). */
export function availableProduct(world: World, reference: ProductReference): StoredProduct {
  const product = found(world.products.get(reference), `Product ${reference}`);
  if (product.status === "archived") throw new Problem("gone", `${product.name} is archived`);
  return product;
}

/** The files of a product's layer images. */
export const layerFile = "base.png";

/** Print specifications of an announced product may be incomplete (specification 3.3): it has no layer images yet. */
export const hasLayers = ({ printed, status }: StoredProduct): boolean => printed && status !== "announced";
