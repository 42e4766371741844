import { type IdentifiedOrderInput, PodPartner } from "pod-partner";
import { type SimulatedWorld, validOrder } from "pod-partner/testing";

/** Fills the database with two orders. */
export async function twoOrders({ database, emulator }: SimulatedWorld): Promise<void> {
  for (const customIdentifier of ["shop-1", "shop-2"]) {
    const order = validOrder(emulator, { customIdentifier, shippingKind: "combined" });
    await database.put("orders", customIdentifier, order);
  }
}

export const ordersOf = ({ database }: SimulatedWorld) => database.all<IdentifiedOrderInput>("orders");

/** A client with the storage that all lives share. */
export const partnerOf = ({ clientOptions, storage }: SimulatedWorld) => new PodPartner({ ...clientOptions, storage });

/** Places the orders as the documents say. */
export async function careful(world: SimulatedWorld): Promise<void> {
  const partner = partnerOf(world);
  for (const order of await ordersOf(world)) await partner.orders.ensure(order);
}

/** Places them without a storage: a killed life leaves nothing behind. */
export async function forgetful(world: SimulatedWorld): Promise<void> {
  const partner = new PodPartner(world.clientOptions);
  for (const order of await ordersOf(world)) await partner.orders.ensure(order);
}
