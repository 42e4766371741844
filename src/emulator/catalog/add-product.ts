import { ControlError } from "../core/control-error.ts";
import type { ReferenceMaker } from "../core/reference-maker.ts";
import type { AddedProduct, ProductState } from "./added-product.ts";
import type { Catalog } from "./catalog.ts";
import type { StoredItem, StoredProduct } from "./products.ts";

/** Throws for a product that the catalog cannot have beside its others. */
function checkNew({ products }: Catalog, { reference, name, legacyItemSKU }: AddedProduct): void {
  if (products.get(reference) !== undefined) throw new ControlError(`There is a product ${name} already`);
  if (products.all().some((product) => product.legacyItemSKU === legacyItemSKU)) {
    throw new ControlError(`There is a product with the legacy SKU ${legacyItemSKU} already: change \`sku\``);
  }
}

function itemOf({ items }: Catalog, make: ReferenceMaker, sku: string, stock: number): StoredItem {
  const existing = items.all().find((item) => item.sku === sku);
  if (existing !== undefined) return existing;
  const quantities = { logicalQuantity: stock, physicalQuantity: stock };
  return items.add({ reference: make.named("Item", sku), sku, products: [], ...quantities });
}

/** Adds a product to the demo catalog. Throws a {@link ControlError} when it cannot have the product. */
export function addProduct(
  catalog: Catalog,
  make: ReferenceMaker,
  added: AddedProduct,
  state: ProductState,
): StoredProduct {
  checkNew(catalog, added);
  const { sku, productgroup, ...fixed } = added;
  const group = catalog.productgroups.find(({ reference }) => reference === productgroup);
  if (group === undefined) throw new ControlError(`There is no productgroup ${productgroup}`);
  itemOf(catalog, make, sku, state.availableQuantity).products.push(added.reference);
  const product = catalog.products.add({ ...fixed, group, ...state });
  catalog.compositions.add(product);
  catalog.added.push(added);
  return product;
}

/** Shows a product of the demo catalog to an organization that does not own its private part. */
export function shareProduct({ products, compositions }: Catalog, product: StoredProduct): void {
  if (product.group.private) return;
  products.add(product);
  compositions.add(product);
}
