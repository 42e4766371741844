import type { ProductReference, StoreReference } from "../../references/references.ts";
import type { OrderlineInput } from "../../resources/orders/order-input.schema.ts";
import type { AddressInput } from "../../schemas/address.ts";
import type { StoredStore } from "../catalog/organization.ts";
import type { Stage } from "../catalog/product-table.ts";
import type { StoredProduct } from "../catalog/products.ts";
import { known, Problem } from "../core/problem.ts";
import type { World } from "../state/world.ts";
import { deniedCountries } from "./shipping.ts";

const orderable: ReadonlySet<Stage> = new Set<Stage>(["prelaunched", "launched", "sunsetted"]);

/** Returns the store, or throws when the API cannot write orders to it (specification 1). */
export function writableStore(world: World, reference: StoreReference): StoredStore {
  const store = known(world.stores.get(reference), `Store ${reference}`);
  if (store.integration === "api") return store;
  throw new Problem(
    "store_not_writable_via_api",
    `${store.name} has the integration ${store.integration}; the API can write only to stores with the integration api`,
  );
}

/** Returns the product, or throws when it cannot be ordered (specification 3.3). */
export function orderableProduct(world: World, reference: ProductReference): StoredProduct {
  const product = known(world.products.get(reference), `Product ${reference}`);
  if (orderable.has(product.status)) return product;
  throw new Problem(
    "product_not_orderable",
    `${product.name} (${reference}) cannot be ordered because it is ${product.status}`,
  );
}

export function refuseDeniedCountry(countryCode: string): void {
  if (!deniedCountries.has(countryCode)) return;
  throw new Problem("invalid_address_denied_country", `The service does not deliver to ${countryCode}`);
}

const email = /[^@\s]@[^@\s]/;

/** Checks the destination of an order. A quote checks only the country (specification 4.7, quote rule 4). */
export function checkDestination(address: AddressInput): void {
  if (!email.test(address.email)) {
    throw new Problem("unknown_input_error", `dropshipAddress.email: ${address.email} is not an e-mail address`);
  }
  refuseDeniedCountry(address.countryCode);
}

/** A printed product requires an existing image. Other products must have none (specification 2.5). */
export function checkOrderline(world: World, { productReference, imageReference }: OrderlineInput): void {
  const product = orderableProduct(world, productReference);
  if (product.printed && imageReference === undefined) {
    throw new Problem("missing_image_reference", `${product.name} is printed: add an imageReference`);
  }
  if (!product.printed && imageReference !== undefined) {
    throw new Problem("unknown_input_error", `${product.name} is not printed: remove the imageReference`);
  }
  if (imageReference !== undefined) known(world.images.get(imageReference), `Image ${imageReference}`);
}
