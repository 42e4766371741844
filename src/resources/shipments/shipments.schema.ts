import * as z from "zod/mini";
import type { ShipmentReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { open } from "../../schemas/shape.ts";

/** A parcel (specification 2.10). Carrier and tracking are there for tracked and express shipments. */
export interface Shipment {
  readonly reference: ShipmentReference;
  /** The orders in it. The shape of an entry is not shown. */
  readonly orders: readonly unknown[];
  /** The carrier's name; missing or null without tracking. */
  readonly carrier?: string | null;
  /** The carrier's number; missing or null without tracking. */
  readonly trackingNumber?: string | null;
  /** White-label tracking page, there before the carrier's first update; missing or null without tracking. */
  readonly trackingUrl?: string | null;
}

export const shipment = () =>
  open<Shipment>({
    reference: reference("Shipment"),
    orders: z.array(z.unknown()),
    carrier: z.nullish(z.string()),
    trackingNumber: z.nullish(z.string()),
    trackingUrl: z.nullish(z.string()),
  });
