import { getShipment } from "../../resources/shipments/shipments.ts";
import { found } from "../base/problem.ts";
import { each, ifAny, only, type Route, referenceOnly, route, whole } from "../http/route.ts";
import { trackingOf } from "../rules/ship.ts";

export const shipmentRoutes: readonly Route[] = [
  route(getShipment, {
    models: "basic, tracked, express and combined shipments",
    controls: ["ship", "automate", "seed"],
    promises: only({
      reference: whole,
      orders: each(referenceOnly),
      carrier: ifAny,
      trackingNumber: ifAny,
      trackingUrl: ifAny,
    }),
    handle: ({ world, path }) => {
      const shipment = found(world.shipments.get(path.shipmentReference), `Shipment ${path.shipmentReference}`);
      return {
        reference: shipment.reference,
        orders: shipment.parcels.map(({ orderReference }) => ({ reference: orderReference })),
        ...trackingOf(world, shipment),
      };
    },
  }),
];
