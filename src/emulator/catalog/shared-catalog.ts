import { Collection } from "../core/collection.ts";
import type { Catalog } from "./catalog.ts";
import type { StoredItem, StoredProduct } from "./products.ts";

/**
 * The catalog as an organization sees it that does not own the private productgroup, the private scene and the warehouse items. The
 * products are the same records, so a change reaches all organizations.
 */
export function sharedCatalog(catalog: Catalog, pageSize: number): Catalog {
  const products = new Collection<StoredProduct>("products", pageSize);
  for (const product of catalog.products.all()) if (!product.group.private) products.add(product);
  const productgroups = catalog.productgroups.filter((group) => !group.private);
  const isShared = <Linked extends { readonly reference: string }>(list: readonly { readonly reference: string }[]) => {
    const references = new Set(list.map(({ reference }) => reference));
    return ({ reference }: Linked) => references.has(reference);
  };
  const scenes = catalog.scenes
    .filter((scene) => !scene.private)
    .map((scene) => ({
      ...scene,
      compatibleProductgroups: scene.compatibleProductgroups.filter(isShared(productgroups)),
    }));
  return {
    ...catalog,
    products,
    productgroups,
    items: new Collection<StoredItem>("items", pageSize),
    scenes,
    perspectives: catalog.perspectives.map((perspective) => ({
      ...perspective,
      scenes: perspective.scenes?.filter(isShared(scenes)) ?? null,
    })),
    compositions: catalog.compositions.shared(),
  };
}
