import type { ReferenceMaker } from "../core/reference-maker.ts";
import type { AddedProduct } from "./added-product.ts";
import { createClaimcategories } from "./claimcategories.ts";
import { createDemoCatalog } from "./demo.ts";
import { createProducts } from "./products.ts";
import { createRendering } from "./rendering.ts";

/** What every organization sees: products, scenes, perspectives, compositions and claim categories. */
export type Catalog = ReturnType<typeof createCatalog>;

/** The references by name that are asked for more than once are made once: each takes a hash. */
function remembering(make: ReferenceMaker): ReferenceMaker {
  const known = new Map<string, string>();
  const named: ReferenceMaker["named"] = (kind, name) => {
    const key = `${kind}/${name}`;
    const reference = known.get(key) ?? make.named(kind, name);
    known.set(key, reference);
    return reference as ReturnType<typeof make.named<typeof kind>>;
  };
  return { ...make, named };
}

/** Makes the demo catalog. */
export function createCatalog(references: ReferenceMaker, pageSize: number) {
  const make = remembering(references);
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
