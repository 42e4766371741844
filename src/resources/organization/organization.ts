import type { ApiCall } from "../../http/call/call.ts";
import type { Send } from "../../http/call/core.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import { ListResource } from "../list-resource.ts";
import { getOrganization, listAccounts, listBrands, listStores } from "./organization.endpoints.ts";
import type { Account, Brand, Organization, Store } from "./organization.schema.ts";

/** The organization and what belongs to it: read only, changed in the dashboard (specification 1, 4.2). */
export class OrganizationResource {
  /** The billing entities (specification 1, 4.2). */
  readonly accounts: ListResource<Account>;
  /** Where orders are created: through the API only in those whose `integration` is `api` (specification 1, 4.2). */
  readonly stores: ListResource<Store>;
  /** The identities that customers see, on shipping labels and tracking pages (specification 1, 4.2). */
  readonly brands: ListResource<Brand>;
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
    this.accounts = new ListResource(send, listAccounts);
    this.stores = new ListResource(send, listStores);
    this.brands = new ListResource(send, listBrands);
  }

  /** Reads the organization that the key belongs to. */
  get(options?: RequestOptions): ApiCall<Organization> {
    return this.#send(getOrganization, {}, options);
  }
}
