import type { ProductReference } from "../../references/references.ts";
import { type ShippingLevel, type ShippingOption, shippingLevels } from "../../resources/orders/orders.endpoints.ts";
import type { Address } from "../../schemas/address.ts";
import type { Overrides } from "../../util/fields.ts";
import type { World } from "../state/world.ts";

type Zone = "home" | "union" | "world";

const union = new Set("AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT PL PT RO SE SI SK".split(" "));

/** Countries without express delivery. */
const withoutExpress = new Set(["CY", "IS", "MT"]);

const zoneOf = (country: string): Zone => {
  if (country === "NL") return "home";
  return union.has(country) ? "union" : "world";
};

/** EUR cents by level. */
const prices: Readonly<Record<Zone, Readonly<Record<ShippingLevel, number>>>> = {
  home: { basic: 325, tracked: 475, express: 995 },
  union: { basic: 495, tracked: 795, express: 1695 },
  world: { basic: 795, tracked: 1495, express: 3495 },
};

/** The promised delivery time in days, by level. */
const promises: Readonly<Record<Zone, Readonly<Record<ShippingLevel, number>>>> = {
  home: { basic: 3, tracked: 2, express: 1 },
  union: { basic: 8, tracked: 5, express: 2 },
  world: { basic: 21, tracked: 14, express: 5 },
};

/** The highest weight of a basic shipment, in grams. */
const heaviestBasic = 2000;
/** The highest value of a basic shipment, in EUR cents. */
const dearestBasic = 20_000;

const parcelLocker = /parcel ?locker|packstation/i;

export interface Goods {
  readonly productReference: ProductReference;
  readonly quantity: number;
}

function isTooMuchForBasic(world: World, goods: readonly Goods[]): boolean {
  let weight = 0;
  let value = 0;
  for (const { productReference, quantity } of goods) {
    const product = world.products.get(productReference);
    weight += (product?.weightGrams ?? 0) * quantity;
    value += (product?.group.price ?? 0) * quantity;
  }
  return weight > heaviestBasic || value > dearestBasic;
}

/**
 * The levels that goods can ship with, lowest first (specification 4.7): the minimal level and the levels above it. Destination, weight
 * and value can exclude levels. When no level remains, it is the highest possible level below the minimal one.
 */
export function shippingOptions(
  world: World,
  goods: readonly Goods[],
  address: Overrides<Address>,
  minimal: ShippingLevel,
): readonly ShippingOption[] {
  const price = prices[zoneOf(address.countryCode ?? "")];
  const options = shippingLevels.map((level) => ({ level, price: price[level] }));
  if (parcelLocker.test(`${address.streetname ?? ""} ${address.additionalInfo ?? ""}`)) {
    return options.filter(({ level }) => level === "tracked");
  }
  const possible = options
    .filter(({ level }) => level !== "express" || !withoutExpress.has(address.countryCode ?? ""))
    .filter(({ level }) => level !== "basic" || !isTooMuchForBasic(world, goods));
  const enough = possible.filter(({ level }) => shippingLevels.indexOf(level) >= shippingLevels.indexOf(minimal));
  return enough.length > 0 ? enough : possible.slice(-1);
}

/** The promised delivery time in days. */
export const promisedDays = (country: string, level: ShippingLevel): number => promises[zoneOf(country)][level];
