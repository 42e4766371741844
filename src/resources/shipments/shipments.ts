import type { RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, Send } from "../../http/send.ts";
import type { ShipmentReference } from "../../references/references.ts";
import { getShipment, type Shipment } from "./shipments.endpoints.ts";

/** Reads shipments (specification 2.10, 4.8). */
export class ShipmentsResource {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Reads one shipment with its carrier and tracking, if it has them (specification 2.10, 4.8).
   *
   * @throws `NotFoundError` if no shipment has this reference.
   * @example
   * const { trackingUrl } = await partner.shipments.get(shipmentReference);
   */
  get(shipmentReference: ShipmentReference, options?: RequestOptions): ApiCall<Shipment> {
    return this.#send(getShipment, { path: { shipmentReference } }, options);
  }
}
