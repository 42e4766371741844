import type { ApiCall } from "../../http/call/call.ts";
import type { Send } from "../../http/call/core.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import type { AddressReference } from "../../references/references.ts";
import type { Address } from "../../schemas/address.ts";
import { getAddress } from "./addresses.endpoints.ts";

/** Addresses of orders and shipments (specification 2.3, 4.4). */
export class AddressesResource {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Reads an address (specification 4.4).
   *
   * @throws `NotFoundError` for an order's replaced address, unless a shipment was already created with it.
   */
  get(addressReference: AddressReference, options?: RequestOptions): ApiCall<Address> {
    return this.#send(getAddress, { path: { addressReference } }, options);
  }
}
