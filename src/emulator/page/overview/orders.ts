import type { StoredOrder } from "../../records/records.ts";
import { statusOf } from "../../rules/orders.ts";
import type { World } from "../../state/world.ts";
import { newest } from "./newest.ts";
import type { Listed, OrderView } from "./view.ts";

const view =
  (world: World) =>
  (order: StoredOrder): OrderView => ({
    reference: order.reference,
    customIdentifier: order.customIdentifier ?? null,
    legacyOrderCode: order.legacyOrderCode,
    created: order.created,
    store: world.stores.get(order.storeReference)?.name ?? order.storeReference,
    shippingKind: order.shippingKind,
    status: statusOf(order).code,
    onHold: order.onHold?.reason ?? null,
    inProduction: order.inProduction,
    settles: order.settles ?? null,
    lines: order.lines.map(({ index, productReference, quantity, shippedQuantity, canceledQuantity }) => ({
      index,
      product: world.products.get(productReference)?.name ?? productReference,
      quantity,
      shipped: shippedQuantity,
      canceled: canceledQuantity,
    })),
  });

/** The name that a partner knows an order by: its own identifier, if it has one. */
export function nameOfOrder(world: World, reference: StoredOrder["reference"]): string {
  const order = world.orders.get(reference);
  return order?.customIdentifier ?? order?.legacyOrderCode ?? reference;
}

export const ordersView = (world: World): Listed<OrderView> => newest(world.orders.all(), view(world));
