import { getShipment, type Shipment } from "../../resources/shipments/shipments.endpoints.ts";
import { found } from "../base/problem.ts";
import { each, ifAny, only, type Route, referenceOnly, route, whole } from "../http/route.ts";
import type { World } from "../state/world.ts";
import type { StoredShipment } from "../work/records.ts";

/**
 * The tracking fields. Tracked and express shipments have them from the start, basic shipments never (specification 1). The level of a
 * combined shipment is not shown, so the specification does not promise them.
 */
function tracking({ settings }: World, { reference, level, addressReference }: StoredShipment): Partial<Shipment> {
  if (level === "basic" || (addressReference === null && settings.shapes === "minimal")) return {};
  const trackingNumber = `EMU${reference.slice(-12).toUpperCase()}`;
  return {
    carrier: level === "express" ? "Emulated Express" : "Emulated Post",
    trackingNumber,
    trackingUrl: `https://track.example/${trackingNumber}`,
  };
}

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
        ...tracking(world, shipment),
      };
    },
  }),
];
