import type { ProductReference, StoreReference } from "../../references/references.ts";
import type { Cancellation, OrderlineInput } from "../../resources/orders/orders.endpoints.ts";
import type { Address, AddressInput } from "../../schemas/address.ts";
import { withOverrides } from "../../util/fields.ts";
import { known, Problem } from "../base/problem.ts";
import type { StoredStore } from "../catalog/organization.ts";
import type { Stage, StoredProduct } from "../catalog/products.ts";
import type { EmulatorAssumptions } from "../settings/assumed.ts";
import type { World } from "../state/world.ts";
import type { StoredAddress, StoredLine, StoredOrder } from "../work/records.ts";

/** The number of the first legacy order code. v1 codes have six digits. */
const firstOrderNumber = 100_001;

/** The fields of a new, valid order. */
export interface OrderDraft
  extends Pick<StoredOrder, "shippingKind" | "minimalLevel" | "customIdentifier" | "settles" | "viaStoreCode"> {
  readonly store: StoredStore;
  readonly address: StoredAddress | null;
  readonly lines: readonly Omit<StoredLine, "index" | "canceledQuantity" | "shippedQuantity">[];
}

/** Adds an address under a new reference. */
export function addAddress(world: World, address: AddressInput): StoredAddress {
  return world.addresses.add({
    reference: world.make.next("Address"),
    address: withOverrides<Address>({}, address),
    uses: 0,
  });
}

/** Adds an order. */
export function addOrder(world: World, { store, address, lines, ...draft }: OrderDraft): StoredOrder {
  const order: StoredOrder = {
    ...draft,
    reference: world.make.next("Order"),
    created: world.now(),
    storeReference: store.reference,
    legacyOrderCode: `${store.legacyCode}-${firstOrderNumber + world.orders.size}`,
    lines: lines.map((line, position) => ({ ...line, index: position + 1, canceledQuantity: 0, shippedQuantity: 0 })),
    dropshipAddressReference: address?.reference ?? null,
    onHold: null,
    inProduction: false,
    postponed: null,
  };
  if (address !== null) address.uses += 1;
  world.automation.planOrder(order);
  return world.orders.add(order);
}

/** The quantity of a line that is neither shipped nor canceled. */
export const openQuantity = (line: StoredLine): number => line.quantity - line.canceledQuantity - line.shippedQuantity;

/** An order is open until every line has been shipped or canceled (specification 3.4). */
export const isOpen = (order: StoredOrder): boolean => order.lines.some((line) => openQuantity(line) > 0);

const unlaunched: ReadonlySet<Stage> = new Set<Stage>(["announced", "prelaunched"]);

/**
 * Why an order cannot be produced or shipped now: it is on hold, or a pre-order, which queues until the launch of its products
 * (specification 3.3). Undefined when it can. A pre-order waits as a whole, until all products of its open lines are launched.
 */
export function waitReason(world: World, order: StoredOrder): string | undefined {
  if (order.onHold !== null) return `is on hold: ${order.onHold.reason}`;
  const products = order.lines
    .filter((line) => openQuantity(line) > 0)
    .map((line) => world.products.get(line.productReference));
  const awaited = products.find((product) => product !== undefined && unlaunched.has(product.status));
  return awaited && `is a pre-order and waits for the launch of ${awaited.name}`;
}

/** The status of an order, in the words of the service. */
export function orderStatus({ settings: { assumptions } }: World, order: StoredOrder): { readonly code: string } {
  const { code } = statusOf(order);
  const { statusCodes } = assumptions;
  return { code: Object.hasOwn(statusCodes, code) ? (statusCodes[code] ?? code) : code };
}

/** The status of an order. The specification does not show the values; these are assumed. */
function statusOf(order: StoredOrder): { readonly code: string } {
  const shipped = order.lines.some((line) => line.shippedQuantity > 0);
  if (!isOpen(order)) return { code: shipped ? "shipped" : "canceled" };
  if (shipped) return { code: "partially_shipped" };
  return { code: order.inProduction ? "in_production" : "received" };
}

/** Replaces the address of an order. Deletes the old address when no order and no shipment uses it (specification 4.4). */
export function replaceAddress(world: World, order: StoredOrder, address: AddressInput): void {
  const old = world.addresses.get(order.dropshipAddressReference);
  const replacement = addAddress(world, address);
  replacement.uses += 1;
  order.dropshipAddressReference = replacement.reference;
  if (old === undefined) return;
  old.uses -= 1;
  if (old.uses === 0) world.addresses.delete(old.reference);
}

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

export function refuseDeniedCountry(
  { deniedCountries, unassignedCountry }: EmulatorAssumptions,
  countryCode: string,
): void {
  if (unassignedCountry === "refuse" && !isAssigned(countryCode)) {
    throw new Problem("unknown_input_error", `dropshipAddress.countryCode: there is no country ${countryCode}`);
  }
  if (!deniedCountries.includes(countryCode)) return;
  throw new Problem("invalid_address_denied_country", `The service does not deliver to ${countryCode}`);
}

const countryNames = new Intl.DisplayNames("en", { type: "region", fallback: "none" });

/** The names of codes that ISO 3166-1 has not assigned. */
const unassigned = /^(EU|EZ|UN|QO|XA|XB|XK|ZZ|UK|EL)$/;

const isAssigned = (code: string): boolean => countryNames.of(code) !== undefined && !unassigned.test(code);

const email = /[^@\s]@[^@\s]/;

/** Checks the destination of an order. A quote checks only the country (specification 4.7, quote rule 4). */
export function checkDestination({ settings: { assumptions } }: World, address: AddressInput): void {
  if (assumptions.checksEmail && !email.test(address.email)) {
    throw new Problem("unknown_input_error", `dropshipAddress.email: ${address.email} is not an e-mail address`);
  }
  refuseDeniedCountry(assumptions, address.countryCode);
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

/** Throws if the line cannot have this many canceled. */
const checkQuantity = (line: StoredLine, canceledQuantity: number): void => {
  if (canceledQuantity < line.canceledQuantity) {
    const message = `Line ${line.index} has ${line.canceledQuantity} canceled already; got the lower ${canceledQuantity}`;
    throw new Problem("canceled_quantity_below_current", message);
  }
  const shippable = line.quantity - line.shippedQuantity;
  if (canceledQuantity > shippable) {
    const message = `Line ${line.index} can have at most ${shippable} canceled; got ${canceledQuantity}`;
    throw new Problem("canceled_quantity_exceeds_shippable", message);
  }
};

/** Cancels lines by absolute quantity. Cancels either all of them or none (specification 4.7, cancel rules). */
export function cancelLines(world: World, order: StoredOrder, given: readonly Cancellation[]): void {
  const { repeatedLine, emptyCancellation } = world.settings.assumptions;
  const cancellations = [...new Map(given.map((one) => [one.index, one])).values()];
  if (repeatedLine === "refuse" && cancellations.length < given.length) {
    throw new Problem("unknown_input_error", "A line is given more than once");
  }
  if (emptyCancellation === "refuse" && given.length === 0) {
    throw new Problem("unknown_input_error", "No line is given");
  }
  const wanted = cancellations.map(({ index, canceledQuantity }) => ({
    line: known(
      order.lines.find((line) => line.index === index),
      `Line ${index} of the order`,
    ),
    canceledQuantity,
  }));
  // Rule 2 wins over rule 4: a request that changes nothing succeeds even in production, so that a lost response can be retried.
  if (wanted.every(({ line, canceledQuantity }) => line.canceledQuantity === canceledQuantity)) return;
  if (order.inProduction) throw new Problem("already_in_production", "The order is in production");
  for (const { line, canceledQuantity } of wanted) checkQuantity(line, canceledQuantity);
  for (const { line, canceledQuantity } of wanted) line.canceledQuantity = canceledQuantity;
  if (order.postponed === null) return;
  // The order may have waited for the launch of what is canceled now.
  world.agenda.add(world.now(), order.postponed);
  order.postponed = null;
}
