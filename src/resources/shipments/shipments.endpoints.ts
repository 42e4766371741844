import * as z from "zod/mini";
import { endpoint, field } from "../../http/endpoint.ts";
import type { ShipmentReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { array, open } from "../../schemas/shape.ts";

/** A shipment (specification 2.10). Only tracked and express shipments have a carrier and tracking. */
export interface Shipment {
  readonly reference: ShipmentReference;
  /** The orders of the shipment. The specification does not show the shape of an entry. */
  readonly orders: readonly unknown[];
  /** The carrier's name; missing or null without tracking. */
  readonly carrier?: string | null;
  /** The tracking number; missing or null without tracking. */
  readonly trackingNumber?: string | null;
  /** URL of the white-label tracking page, available before the carrier's first update; missing or null without tracking. */
  readonly trackingUrl?: string | null;
}

const shipment = () =>
  open<Shipment>({
    reference: reference("Shipment"),
    orders: array(z.unknown()),
    carrier: z.nullish(z.string()),
    trackingNumber: z.nullish(z.string()),
    trackingUrl: z.nullish(z.string()),
  });

export const getShipment = endpoint({
  call: "shipments.get",
  method: "GET",
  path: "/shipments/{shipmentReference}",
  response: field("shipment", shipment),
  repeat: "safe",
});
