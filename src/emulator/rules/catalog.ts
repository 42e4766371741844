import type { ProductReference } from "../../references/references.ts";
import { ControlError } from "../base/control-error.ts";
import { found, Problem } from "../base/problem.ts";
import type { StoredProduct } from "../catalog/products.ts";
import type { World } from "../state/world.ts";

/** Returns the product, or throws `gone` when it is archived (specification 3.3). */
export function availableProduct(world: World, reference: ProductReference): StoredProduct {
  const product = found(world.products.get(reference), `Product ${reference}`);
  if (product.status === "archived") throw new Problem("gone", `${product.name} is archived`);
  return product;
}

/** The file name of a product's layer image. */
export const layerFile = "base.png";

/** Whether a product has layer images. An announced product has none: its print specifications can be incomplete (specification 3.3). */
export const hasLayers = ({ printed, status }: StoredProduct): boolean => printed && status !== "announced";

/** Refuses a product without a known stock that is not announced (specification 3.3). */
export function refuseUnknownStock({
  status,
  availableQuantity,
}: Pick<StoredProduct, "status" | "availableQuantity">): void {
  if (availableQuantity === null && status !== "announced") {
    throw new ControlError(`Only an announced product may lack its availableQuantity; the product is ${status}`);
  }
}
