import type { ProductReference, StoreReference } from "../../references/references.ts";
import type { OrderlineInput } from "../../resources/orders/order-input.schema.ts";
import type { StoredStore } from "../catalog/organization.ts";
import type { Stage } from "../catalog/product-table.ts";
import type { StoredProduct } from "../catalog/products.ts";
import { known, Problem } from "../http/problem.ts";
import type { World } from "../state/world.ts";
import { deniedCountries } from "./shipping.ts";

const orderable: ReadonlySet<Stage> = new Set<Stage>(["prelaunched", "launched", "sunsetted"]);

/** The store, when orders can be written to it through the API (specification 1). */
export function writableStore(world: World, reference: StoreReference): StoredStore {
  const store = known(
    world.stores.find((candidate) => candidate.reference === reference),
    `Store ${reference}`,
  );
  if (store.integration === "api") return store;
  throw new Problem("store_not_writable_via_api", `${store.name} is written by its platform, ${store.integration}`);
}

/** The product, when it can be ordered (specification 3.3). */
export function orderableProduct(world: World, reference: ProductReference): StoredProduct {
  const product = known(world.products.get(reference), `Product ${reference}`);
  if (orderable.has(product.status)) return product;
  throw new Problem(
    "product_not_orderable",
    `${product.name} (${reference}) cannot be ordered: it is ${product.status}`,
  );
}

export function refuseDeniedCountry(countryCode: string): void {
  if (!deniedCountries.has(countryCode)) return;
  throw new Problem("invalid_address_denied_country", `There are no deliveries to ${countryCode}`);
}

/** Printed products need a known image, others must have none (specification 2.5). */
export function checkOrderline(world: World, { productReference, imageReference }: OrderlineInput): void {
  const product = orderableProduct(world, productReference);
  if (product.printed && imageReference === undefined) {
    throw new Problem("missing_image_reference", `${product.name} is printed: give its imageReference`);
  }
  if (!product.printed && imageReference !== undefined) {
    throw new Problem("unknown_input_error", `${product.name} is not printed: leave imageReference out`);
  }
  if (imageReference !== undefined) known(world.images.get(imageReference), `Image ${imageReference}`);
}
