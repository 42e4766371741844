import { assumed, endpoint, field } from "../../http/endpoint.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, CallContext } from "../../http/send.ts";
import type { AddressReference } from "../../references/references.ts";
import type { Address } from "../../schemas/address.ts";
import { address } from "../../schemas/address.ts";

export const getAddress = endpoint({
  call: "addresses.get",
  method: "GET",
  path: "/addresses/{addressReference}",
  response: assumed(field("address", address)),
  repeat: "safe",
});

/** Reads addresses of orders and shipments (specification 2.3, 4.4). */
export class AddressesResource {
  readonly #context: CallContext;

  /** @internal */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Reads an address (specification 4.4).
   *
   * @throws `NotFoundError` if the order's address was replaced, unless a shipment was already created with it.
   * @example
   * const { dropshipAddressReference } = await partner.orders.get(orderReference);
   * if (dropshipAddressReference) console.log(await partner.addresses.get(dropshipAddressReference));
   */
  get(addressReference: AddressReference, options?: RequestOptions): ApiCall<Address> {
    return this.#context.send(getAddress, { path: { addressReference } }, options);
  }
}
