import type { CompleteAddress } from "../../schemas/address.ts";
import { known } from "../core/problem.ts";
import type { StoredOrder } from "../records/records.ts";
import { addImage } from "../rules/images.ts";
import { addAddress, addOrder } from "../rules/orders.ts";
import type { World } from "../state/world.ts";

const places = [
  { countryCode: "NL", city: "Amsterdam", zipcode: "1012 LG", streetname: "Damrak" },
  { countryCode: "DE", city: "Berlin", zipcode: "10117", streetname: "Unter den Linden" },
  { countryCode: "FR", city: "Paris", zipcode: "75001", streetname: "Rue de Rivoli" },
  { countryCode: "BE", city: "Brussel", zipcode: "1000", streetname: "Nieuwstraat" },
] as const;

/** The address of a customer: all fields, the unused ones empty (specification 2.3). */
export const addressOf = (number: number): CompleteAddress => ({
  company: "",
  firstname: "Customer",
  lastname: String(number),
  housenumber: String(number),
  housenumberAddition: "",
  additionalInfo: "",
  state: "",
  phonenumber: "",
  email: `customer-${number}@shop.example`,
  ...(places[number % places.length] ?? places[0]),
});

/** Adds a number of different orders, so that lists have pages. */
export function generateOrders(world: World, count: number): readonly StoredOrder[] {
  if (count === 0) return [];
  const [store] = world.stores.values();
  const image = addImage(world, "seed");
  const first = world.orders.size + 1;
  return Array.from({ length: count }, (_, position) => {
    const number = first + position;
    return addOrder(world, {
      store: known(store, "A store"),
      shippingKind: "dropship",
      customIdentifier: `seed-${number}`,
      minimalLevel: "basic",
      address: addAddress(world, addressOf(number)),
      settles: undefined,
      lines: [
        {
          productReference: world.demo.products.slimCase,
          imageReference: image.reference,
          quantity: 1 + (number % 3),
          annotations: [],
        },
      ],
    });
  });
}
