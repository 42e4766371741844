import type { ReferenceMaker } from "../state/reference-maker.ts";
import type { AddedProduct } from "./added-product.ts";
import { createClaimcategories } from "./claimcategories.ts";
import { createDemoCatalog } from "./demo.ts";
import { createProducts } from "./products.ts";
import { createRendering } from "./rendering.ts";

/** What every organization sees: products, scenes, perspectives, compositions and claim categories. */
export type Catalog = ReturnType<typeof createCatalog>;

/** Makes the demo catalog. */
export function createCatalog(make: ReferenceMaker, pageSize: number) {
  const catalog = createProducts(make, pageSize);
  return {
    demo: createDemoCatalog(make),
    ...catalog,
    ...createRendering(make, catalog.productgroups, catalog.products),
    claimcategories: createClaimcategories(make),
    /** What a seed added to the products. */
    added: [] as AddedProduct[],
  };
}
