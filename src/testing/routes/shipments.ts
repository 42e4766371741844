import { getShipment } from "../../resources/shipments/shipments.endpoints.ts";
import type { Shipment } from "../../resources/shipments/shipments.schema.ts";
import { found } from "../http/problem.ts";
import { type Route, route } from "../http/route.ts";
import type { StoredShipment } from "../state/records.ts";

/** The tracking fields. Tracked and express shipments have them from the start, basic shipments never (specification 1). */
function tracking({ reference, level }: StoredShipment): Partial<Shipment> {
  if (level === "basic") return {};
  const trackingNumber = `EMU${reference.slice(-12).toUpperCase()}`;
  return {
    carrier: level === "express" ? "Emulated Express" : "Emulated Post",
    trackingNumber,
    trackingUrl: `https://track.example/${trackingNumber}`,
  };
}

export const shipmentRoutes: readonly Route[] = [
  route(getShipment, ({ world, path }) => {
    const shipment = found(world.shipments.get(path.shipmentReference), `Shipment ${path.shipmentReference}`);
    return {
      reference: shipment.reference,
      orders: shipment.parcels.map(({ orderReference }) => ({ reference: orderReference })),
      ...tracking(shipment),
    };
  }),
];
