import * as z from "zod/mini";
import { endpoint, field } from "../../http/endpoint.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, CallContext } from "../../http/send.ts";
import { isReference, type ShipmentReference } from "../../references/references.ts";
import { anyList, open, reference, text } from "../../schemas/shape.ts";
import { isObject } from "../../util/foreign.ts";
import { type GetMany, getMany } from "../many.ts";

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
    orders: anyList(),
    carrier: z.nullish(text()),
    trackingNumber: z.nullish(text()),
    trackingUrl: z.nullish(text()),
  });

export const getShipment = endpoint({
  call: "shipments.get",
  method: "GET",
  path: "/shipments/{shipmentReference}",
  response: field("shipment", shipment),
  repeat: "safe",
});

/**
 * Returns the shipment references anywhere in a value, such as an order, each once. Empty if there are none. Never throws for JSON.
 *
 * The specification does not show whether, or where, an order names its shipments. The SDK keeps unknown fields of a response, so this
 * function finds a reference in any field.
 *
 * @param response An order, or any other data of a response, such as a claim.
 * @example
 * const order = await partner.orders.get(orderReference);
 * for await (const outcome of partner.shipments.getMany(shipmentsIn(order))) {
 *   if (outcome.ok) console.log(outcome.value.trackingUrl);
 * }
 */
export function shipmentsIn(response: unknown): ShipmentReference[] {
  const references = new Set<ShipmentReference>();
  // The set grows while it is iterated: values of any depth, each once.
  const values = new Set([response]);
  for (const value of values) {
    if (isReference("Shipment", value)) references.add(value);
    else if (isObject(value)) for (const part of Object.values(value)) values.add(part);
  }
  return [...references];
}

/** Reads shipments (specification 2.10, 4.8). */
export class ShipmentsResource {
  readonly #context: CallContext;

  /** @internal */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Reads one shipment with its carrier and tracking, if it has them (specification 2.10, 4.8).
   *
   * @throws `NotFoundError` if no shipment has this reference.
   * @example
   * const { trackingUrl } = await partner.shipments.get(shipmentReference);
   */
  get(shipmentReference: ShipmentReference, options?: RequestOptions): ApiCall<Shipment> {
    return this.#context.send(getShipment, { path: { shipmentReference } }, options);
  }

  /**
   * Reads many shipments by their references. Each is one request with low priority, at most 16 at a time. It yields each outcome with its
   * row when it is ready. One failure does not stop the other rows. Iterate the outcomes once.
   *
   * `map` returns the reference for your row. Without it, each row is a reference. `concurrency` is the number of requests at a time.
   *
   * @throws `RequestValidationError` if an option or `rows` is invalid.
   * @example
   * for await (const outcome of partner.shipments.getMany([shipmentReference], { concurrency: 4 })) {
   *   if (outcome.ok) console.log(outcome.value.reference);
   *   else console.error(outcome.input, outcome.error);
   * }
   */
  get getMany(): GetMany<ShipmentReference, Shipment> {
    return getMany("shipments.getMany", this.#context, this.get.bind(this));
  }
}
