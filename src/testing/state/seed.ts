import { known } from "../http/problem.ts";
import { addAddress, addOrder } from "../rules/orders.ts";
import type { World } from "./world.ts";

const countries = ["NL", "DE", "FR", "BE"];

/** Adds the orders of `seed.orders`, so that lists have pages. */
export function seedOrders(world: World, count: number): void {
  if (count === 0) return;
  const [store] = world.stores;
  const image = world.images.add({ reference: world.make.named("Image", "seed") });
  for (let number = 1; number <= count; number += 1) {
    const countryCode = countries[number % countries.length] ?? "NL";
    const address = {
      firstname: "Customer",
      lastname: String(number),
      email: `customer-${number}@shop.example`,
      countryCode,
    };
    addOrder(world, {
      store: known(store, "A store"),
      shippingKind: "dropship",
      customIdentifier: `seed-${number}`,
      minimalLevel: "basic",
      address: addAddress(world, address),
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
  }
}
